import Errand
import Testing

extension WorkerCase {
    static var stopping: [WorkerCase] {
        [
            WorkerCase("the handler of a cancelled job is told to stop") { fixture in
                let latch = Latch()
                let recorder = Recorder()
                let workers = TestWorkers(fixture, [.waiting(at: latch, recorder)])
                try await fixture.pushPlain("a")
                try await fixture.eventually("it runs") { recorder.lines == ["began a"] }
                #expect(try await fixture.cancel("a") == .stopping)
                try await fixture.eventually("it ends") { try await fixture.state("a") == .cancelled }
                try await workers.dismiss()
                #expect(recorder.lines == ["began a", "stopped a"])
                #expect(try await fixture.news() == ["cancelled a"])
            },
            WorkerCase("a replacement stops the run and runs after it; the last one wins") { fixture in
                let latch = Latch()
                let recorder = Recorder()
                let workers = TestWorkers(fixture, [.waiting(at: latch, recorder)])
                try await fixture.push(try fixture.job("old", .replace))
                try await fixture.eventually("it runs") { recorder.lines == ["began old"] }
                #expect(
                    try await fixture.push(try fixture.job("middle", .replace), try fixture.job("new", .replace)).map(
                        \.outcome
                    ) == [.deferred, .deferred]
                )
                latch.open()
                try await fixture.eventually("the last one is finished") { try await fixture.state("new") == .finished }
                try await workers.dismiss()
                #expect(recorder.lines.contains("began new"))
                #expect(!recorder.lines.contains("began middle"))
                #expect(try await fixture.state("middle") == .replaced)
            },
            WorkerCase("shutdown lets running jobs end and releases waiting ones unspent") { fixture in
                let latch = Latch()
                let recorder = Recorder()
                let queues = [WorkerConfiguration.QueueShare(fixture.queue)]
                let workers = TestWorkers(
                    fixture,
                    WorkerConfiguration(
                        queues: queues,
                        concurrency: 1,
                        lease: .seconds(2),
                        stopGrace: .milliseconds(200)
                    ),
                    [.waiting(at: latch, recorder)]
                )
                try await fixture.pushPlain("a", "b", "c")
                try await fixture.eventually("the first runs") { recorder.lines == ["began a"] }
                try await workers.dismiss()
                #expect(try await fixture.state("a") == .ready)
                let next = try await fixture.session()
                let claims = try await next.claim()
                #expect(claims.map(\.id) == ["a", "b", "c"])
                #expect(claims.map(\.attempt) == [1, 1, 1])
                #expect(claims.map(\.crashes) == [0, 0, 0])
                try await next.release()
                #expect(try await fixture.total("recovered") == 0)
            },
            WorkerCase("a worker whose session is lost registers again, and its late finish changes nothing") {
                fixture in
                let latch = Latch()
                let recorder = Recorder()
                let workers = TestWorkers(fixture, [.waiting(at: latch, recorder)])
                try await fixture.pushPlain("a")
                try await fixture.eventually("it runs") { recorder.lines == ["began a"] }
                let lost = try #require(workers.worker.session)
                try await fixture.broker.release(lost, on: fixture.queue)
                try await fixture.eventually("a new session") { workers.worker.session?.id != lost.id }
                latch.open()
                try await fixture.eventually("it is finished by the new session") {
                    try await fixture.state("a") == .finished
                }
                try await workers.dismiss()
                #expect(try await fixture.news() == ["released a", "finished a"])
            },
        ]
    }
}

extension RegisteredOperation {
    /// Makes an operation that waits at a latch, and records when it starts and when it is stopped.
    static func waiting(at latch: Latch, _ recorder: Recorder) -> RegisteredOperation {
        RegisteredOperation(Fixture.operation, timeout: .seconds(30)) { job in
            recorder.note("began \(job.id)")
            do { try await latch.pass() } catch {
                recorder.note("stopped \(job.id)")
                throw error
            }
        }
    }
}
