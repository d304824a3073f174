import Errand
import Testing

extension WorkerCase {
    static var stopping: [WorkerCase] {
        [
            WorkerCase("a cancelled job's handler is told to stop") { stage in
                let gate = Gate()
                let diary = Diary()
                let crew = Crew(stage, [.waiting(at: gate, diary)])
                try await stage.pushPlain("a")
                try await stage.eventually("it runs") { diary.lines == ["began a"] }
                #expect(try await stage.cancel("a") == .stopping)
                try await stage.eventually("it ends") { try await stage.state("a") == .cancelled }
                try await crew.dismiss()
                #expect(diary.lines == ["began a", "stopped a"])
                #expect(try await stage.news() == ["cancelled a"])
            },
            WorkerCase("a replacement stops the run and runs after it, the last one wins") { stage in
                let gate = Gate()
                let diary = Diary()
                let crew = Crew(stage, [.waiting(at: gate, diary)])
                try await stage.push(try stage.job("old", .replace))
                try await stage.eventually("it runs") { diary.lines == ["began old"] }
                #expect(
                    try await stage.push(try stage.job("middle", .replace), try stage.job("new", .replace)).map(
                        \.outcome
                    ) == [.deferred, .deferred]
                )
                gate.open()
                try await stage.eventually("the last one is finished") { try await stage.state("new") == .finished }
                try await crew.dismiss()
                #expect(diary.lines.contains("began new"))
                #expect(!diary.lines.contains("began middle"))
                #expect(try await stage.state("middle") == .replaced)
            },
            WorkerCase("shutdown lets running jobs end and gives the waiting ones back unspent") { stage in
                let gate = Gate()
                let diary = Diary()
                let queues = [WorkerConfiguration.QueueShare(stage.queue)]
                let crew = Crew(
                    stage,
                    WorkerConfiguration(
                        queues: queues,
                        concurrency: 1,
                        lease: .seconds(2),
                        stopGrace: .milliseconds(200)
                    ),
                    [.waiting(at: gate, diary)]
                )
                try await stage.pushPlain("a", "b", "c")
                try await stage.eventually("the first runs") { diary.lines == ["began a"] }
                try await crew.dismiss()
                #expect(try await stage.state("a") == .ready)
                let next = try await stage.session()
                let claims = try await next.claim()
                #expect(claims.map(\.id) == ["a", "b", "c"])
                #expect(claims.map(\.attempt) == [1, 1, 1])
                #expect(claims.map(\.crashes) == [0, 0, 0])
                try await next.release()
                #expect(try await stage.total("recovered") == 0)
            },
            WorkerCase("a worker whose session is gone registers a new one, and its late finish changes nothing") {
                stage in
                let gate = Gate()
                let diary = Diary()
                let crew = Crew(stage, [.waiting(at: gate, diary)])
                try await stage.pushPlain("a")
                try await stage.eventually("it runs") { diary.lines == ["began a"] }
                let lost = try #require(crew.worker.session)
                try await stage.broker.release(lost, on: stage.queue)
                try await stage.eventually("a new session") { crew.worker.session?.id != lost.id }
                gate.open()
                try await stage.eventually("it is finished by the new session") {
                    try await stage.state("a") == .finished
                }
                try await crew.dismiss()
                #expect(try await stage.news() == ["released a", "finished a"])
            },
        ]
    }
}

extension RegisteredOperation {
    /// Waits at a gate; tells the diary when it begins and when it was stopped.
    static func waiting(at gate: Gate, _ diary: Diary) -> RegisteredOperation {
        RegisteredOperation(Stage.operation, timeout: .seconds(30)) { job in
            diary.note("began \(job.id)")
            do { try await gate.pass() } catch {
                diary.note("stopped \(job.id)")
                throw error
            }
        }
    }
}
