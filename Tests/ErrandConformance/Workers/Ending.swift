import Errand
import Synchronization
import Testing

extension WorkerCase {
    /// Handlers that end their job without a retry, and handlers that do not stop.
    static var ending: [WorkerCase] {
        [
            WorkerCase("a handler that says its job is not wanted any more ends it cancelled, retries or not") {
                fixture in
                let operation = RegisteredOperation(
                    Fixture.operation,
                    defaults: OperationDefaults(retries: 5),
                    handler: .async { _ in throw JobCancellation("the customer has left") }
                )
                let workers = TestWorkers(fixture, [operation])
                try await fixture.push(try fixture.job("a", .drop))
                try await fixture.eventually("cancelled") { try await fixture.state("a") == .cancelled }
                #expect(try await fixture.news() == ["cancelled a"])
                let event = String(decoding: try await fixture.record("a")?.lastEvent ?? [], as: UTF8.self)
                #expect(event.contains("the customer has left"))
                // The name is free again.
                #expect(try await fixture.receipt(try fixture.job("b", .drop)).outcome == .accepted)
                try await fixture.eventually("the next one too") { try await fixture.state("b") == .cancelled }
                try await workers.dismiss()
            },
            WorkerCase("too many handlers that run on make the worker end, and release other jobs unspent") {
                fixture in
                let isOpen = Atomic(false)
                let latch = Latch()
                let recorder = Recorder()
                let operation = RegisteredOperation(
                    Fixture.operation,
                    defaults: OperationDefaults(retries: 0),
                    handler: .async { job in
                        recorder.note("began \(job.id)")
                        if job.id == "c" { try await latch.pass() }
                        while !isOpen.load(ordering: .relaxed) { await Task.yield() }
                        return .finished()
                    }
                )
                let workers = TestWorkers(
                    fixture,
                    WorkerConfiguration(
                        queues: [.init(fixture.queue)],
                        concurrency: 3,
                        lease: .seconds(2),
                        grace: .seconds(2),
                        stopGrace: .milliseconds(50),
                        mostOverruns: 2
                    ),
                    [operation]
                )
                try await fixture.pushPlain("c")
                try await fixture.eventually("the patient one runs") { recorder.lines == ["began c"] }
                for id in ["a", "b"] { try await fixture.push(try fixture.job(id, timeout: .milliseconds(20))) }
                do {
                    try await workers.end()
                    Issue.record("the worker did not say why it ended")
                } catch let stuck as WorkerStuck {
                    #expect(stuck.endsWorker)
                }
                isOpen.store(true, ordering: .relaxed)
                #expect(try await fixture.status().dead == 2)
                #expect(try await fixture.total("timed_out") == 2)
                let next = try await fixture.session()
                let claims = try await next.claim()
                try await next.release()
                #expect(claims.map(\.id) == ["c"] && claims.map(\.attempt) == [1] && claims.map(\.crashes) == [0])
            },
        ]
    }
}
