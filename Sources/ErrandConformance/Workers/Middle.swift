import Errand
import Testing

extension WorkerCase {
    static var middleware: [WorkerCase] {
        [
            WorkerCase("middleware is around every push and run, the first one outermost") { stage in
                let diary = Diary()
                let links = [Scribe(name: "outer", diary: diary), Scribe(name: "inner", diary: diary)]
                let crew = Crew(stage, middleware: links) { worker in
                    worker.register(RegisteredOperation("async") { _ async in diary.note("runs \(Scribe.mark)") })
                    worker.register(RegisteredOperation("blocking") { _ in diary.note("runs \(Scribe.mark)") })
                }
                let producer = Producer(broker: stage.broker, middleware: links)
                for name in ["async", "blocking"] {
                    let receipt = try await producer.push(OperationDescription(name, queue: stage.queue))
                    #expect(try await producer.ending(of: receipt, within: .seconds(120)).state == .finished)
                    try await stage.eventually("told of the end") { diary.lines.contains("outer succeeded") }
                    // A worker may claim a job before its push has its receipt, so the two sides are told apart.
                    #expect(
                        diary.lines.filter { $0.contains("push") } == [
                            "outer pushes", "inner pushes", "inner pushed", "outer pushed",
                        ]
                    )
                    #expect(
                        diary.lines.filter { !$0.contains("push") } == [
                            "outer claimed", "inner claimed", "outer in", "inner in by outer", "runs inner",
                            "inner out",
                            "outer out", "inner succeeded", "outer succeeded",
                        ],
                        "\(name)"
                    )
                    diary.clear()
                }
                try await crew.dismiss()
            },
            WorkerCase("middleware hears how each run ended, and may refuse") { stage in
                let diary = Diary()
                let crew = Crew(stage, middleware: [Scribe(name: "m", diary: diary)]) { worker in
                    worker.register(
                        RegisteredOperation(Stage.operation, timeout: .seconds(2), retries: 1) { job in
                            switch job.attempt {
                            case 1: throw JobFailure("first", retryAfter: .zero)
                            default: try await Gate().pass()
                            }
                        }
                    )
                    worker.register(RegisteredOperation("unwanted") { _ in throw JobCancellation("not wanted") })
                }
                try await stage.pushPlain("a")
                try await stage.push(try stage.job("b", operation: "unwanted"))
                try await stage.eventually("both ended") {
                    try await [stage.state("a"), stage.state("b")] == [.dead, .cancelled]
                }
                let ends = Set(
                    diary.lines.filter { !$0.hasSuffix("claimed") && !$0.contains(" in") && !$0.contains("out") }
                )
                #expect(ends == ["m retried: first", "m failed", "m cancelled: not wanted"])
                try await crew.dismiss()
            },
        ]
    }
}

/// Middleware that writes down what it is told.
private struct Scribe: JobMiddleware {
    @TaskLocal static var mark = "nobody"
    let name: String
    let diary: Diary

    func pushJobs(
        _ jobs: [OperationDescription],
        next: ([OperationDescription]) async throws -> [Receipt]
    ) async throws -> [Receipt] {
        diary.note("\(name) pushes")
        defer { diary.note("\(name) pushed") }
        return try await next(jobs)
    }

    func claimedJob(_ job: JobContext) { diary.note("\(name) claimed") }

    func handleJob(
        _ job: JobContext,
        next: (JobContext) async throws -> HandlerOutcome
    ) async throws -> HandlerOutcome {
        diary.note(Self.mark == "nobody" ? "\(name) in" : "\(name) in by \(Self.mark)")
        defer { diary.note("\(name) out") }
        return try await Self.$mark.withValue(name) { try await next(job) }
    }

    func finishedJob(_ job: JobContext, _ ending: RunEnding) {
        let reason = ending.timedOut ? "" : ending.error.map { ": \($0)" } ?? ""
        diary.note("\(name) \(ending.status)\(reason)")
    }
}
