import Errand
import Testing

extension WorkerCase {
    static var middleware: [WorkerCase] {
        [
            WorkerCase("middleware is around every push and run, the first one outermost") { fixture in
                let recorder = Recorder()
                let links = [Scribe(name: "outer", recorder: recorder), Scribe(name: "inner", recorder: recorder)]
                let workers = TestWorkers(fixture, middleware: links) { worker in
                    worker.register(RegisteredOperation("async") { _ async in recorder.note("runs \(Scribe.mark)") })
                    worker.register(RegisteredOperation("blocking") { _ in recorder.note("runs \(Scribe.mark)") })
                }
                let producer = Producer(broker: fixture.broker, middleware: links)
                for name in ["async", "blocking"] {
                    let receipt = try await producer.push(OperationDescription(name, queue: fixture.queue))
                    #expect(try await producer.ending(of: receipt, within: .seconds(120)).state == .finished)
                    try await fixture.eventually("notified of the end") { recorder.lines.contains("outer succeeded") }
                    // A worker may claim a job before the push has its receipt, so the two sides are compared
                    // separately.
                    #expect(
                        recorder.lines.filter { $0.contains("push") } == [
                            "outer pushes", "inner pushes", "inner pushed", "outer pushed",
                        ]
                    )
                    #expect(
                        recorder.lines.filter { !$0.contains("push") } == [
                            "outer claimed", "inner claimed", "outer in", "inner in by outer", "runs inner",
                            "inner out",
                            "outer out", "inner succeeded", "outer succeeded",
                        ],
                        "\(name)"
                    )
                    recorder.clear()
                }
                try await workers.dismiss()
            },
            WorkerCase("middleware is told of a job that expired, which does not run") { fixture in
                let recorder = Recorder()
                try await fixture.pushExpired("late")
                let workers = TestWorkers(fixture, middleware: [Scribe(name: "m", recorder: recorder)]) { worker in
                    worker.register(RegisteredOperation(Fixture.operation) { _ in recorder.note("runs") })
                }
                try await fixture.eventually("it expired") { try await fixture.state("late") == .expired }
                try await fixture.eventually("the middleware is told") { !recorder.lines.isEmpty }
                #expect(recorder.lines == ["m discarded late: \(Fixture.operation), expired"])
                try await workers.dismiss()
            },
            WorkerCase("middleware sees how each run ended, and may reject a push") { fixture in
                let recorder = Recorder()
                let workers = TestWorkers(fixture, middleware: [Scribe(name: "m", recorder: recorder)]) { worker in
                    worker.register(
                        RegisteredOperation(Fixture.operation, timeout: .seconds(2), retries: 1) { job in
                            switch job.attempt {
                            case 1: throw JobFailure("first", retryAfter: .zero)
                            default: try await Latch().pass()
                            }
                        }
                    )
                    worker.register(RegisteredOperation("unwanted") { _ in throw JobCancellation("not wanted") })
                }
                try await fixture.pushPlain("a")
                try await fixture.push(try fixture.job("b", operation: "unwanted"))
                try await fixture.eventually("both ended") {
                    try await [fixture.state("a"), fixture.state("b")] == [.dead, .cancelled]
                }
                let ends = Set(
                    recorder.lines.filter { !$0.hasSuffix("claimed") && !$0.contains(" in") && !$0.contains("out") }
                )
                #expect(ends == ["m retried: first", "m failed", "m cancelled: not wanted"])
                try await workers.dismiss()
            },
        ]
    }
}

/// Middleware that records its calls.
private struct Scribe: JobMiddleware {
    @TaskLocal static var mark = "nobody"
    let name: String
    let recorder: Recorder

    func pushJobs(
        _ jobs: [OperationDescription],
        next: ([OperationDescription]) async throws -> [Receipt]
    ) async throws -> [Receipt] {
        recorder.note("\(name) pushes")
        defer { recorder.note("\(name) pushed") }
        return try await next(jobs)
    }

    func discardedJob(_ job: DiscardedJob) {
        recorder.note("\(name) discarded \(job.id): \(job.operation ?? "unknown"), \(job.reason)")
    }

    func claimedJob(_ job: JobContext) { recorder.note("\(name) claimed") }

    func handleJob(
        _ job: JobContext,
        next: (JobContext) async throws -> HandlerOutcome
    ) async throws -> HandlerOutcome {
        recorder.note(Self.mark == "nobody" ? "\(name) in" : "\(name) in by \(Self.mark)")
        defer { recorder.note("\(name) out") }
        return try await Self.$mark.withValue(name) { try await next(job) }
    }

    func finishedJob(_ job: JobContext, _ ending: RunEnding) {
        let reason = ending.timedOut ? "" : ending.error.map { ": \($0)" } ?? ""
        recorder.note("\(name) \(ending.status)\(reason)")
    }
}
