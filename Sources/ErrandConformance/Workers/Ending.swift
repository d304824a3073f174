import Errand
import Synchronization
import Testing

extension WorkerCase {
    /// Handlers that end their job for good, and handlers that do not end at all.
    static var ending: [WorkerCase] {
        [
            WorkerCase("a handler that says its job is not wanted any more ends it cancelled, retries or not") {
                stage in
                let operation = RegisteredOperation(
                    Stage.operation,
                    defaults: OperationDefaults(retries: 5),
                    handler: .async { _ in throw JobCancellation("the customer has left") }
                )
                let crew = Crew(stage, [operation])
                try await stage.push(try stage.job("a", .drop))
                try await stage.eventually("cancelled") { try await stage.state("a") == .cancelled }
                #expect(try await stage.news() == ["cancelled a"])
                let event = String(decoding: try await stage.record("a")?.lastEvent ?? [], as: UTF8.self)
                #expect(event.contains("the customer has left"))
                // Its name is free.
                #expect(try await stage.receipt(try stage.job("b", .drop)).outcome == .accepted)
                try await stage.eventually("the next one too") { try await stage.state("b") == .cancelled }
                try await crew.dismiss()
            },
            WorkerCase("too many handlers that run on after their end make the worker end") { stage in
                let isOpen = Atomic(false)
                let operation = RegisteredOperation(
                    Stage.operation,
                    defaults: OperationDefaults(retries: 0),
                    handler: .async { _ in
                        while !isOpen.load(ordering: .relaxed) { await Task.yield() }
                        return .finished()
                    }
                )
                let crew = Crew(
                    stage,
                    WorkerConfiguration(
                        queues: [.init(stage.queue)],
                        concurrency: 2,
                        lease: .seconds(2),
                        grace: .seconds(2),
                        stopGrace: .milliseconds(50),
                        mostOverruns: 2
                    ),
                    [operation]
                )
                for id in ["a", "b"] { try await stage.push(try stage.job(id, timeout: .milliseconds(20))) }
                do {
                    try await crew.end()
                    Issue.record("the worker did not say why it ended")
                } catch let stuck as WorkerStuck {
                    #expect(stuck.endsWorker)
                }
                isOpen.store(true, ordering: .relaxed)
                #expect(try await stage.status().dead == 2)
                #expect(try await stage.total("timed_out") == 2)
            },
        ]
    }
}
