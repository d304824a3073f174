import Errand
import Testing

extension WorkerCase {
    static var sharing: [WorkerCase] {
        [
            WorkerCase("queues share the claims by their weights") { fixture in
                let second = fixture.queue + ".second"
                let recorder = Recorder()
                for (queue, prefix) in [(fixture.queue, "a"), (second, "b")] {
                    let jobs = try (0..<200).map {
                        try OperationDescription(Fixture.operation, queue: queue, id: "\(prefix)\($0)").makeEnvelope()
                    }
                    _ = try await fixture.broker.push(jobs, to: queue)
                }
                let workers = TestWorkers(
                    fixture,
                    WorkerConfiguration(
                        queues: [.init(fixture.queue, weight: 3), .init(second, weight: 1)],
                        concurrency: 4,
                        lease: .seconds(2)
                    ),
                    [
                        RegisteredOperation(Fixture.operation) { job in
                            recorder.note(String(job.id.prefix(1)))
                            // Long enough that the worker claims no jobs ahead.
                            try await Task.sleep(for: .milliseconds(60))
                        }
                    ]
                )
                try await fixture.eventually("eighty have begun") { recorder.lines.count >= 80 }
                try await workers.dismiss()
                let shares = recorder.lines.prefix(80).filter { $0 == "a" }.count
                #expect((52...68).contains(shares), "three of four, give or take")
                _ = try await fixture.broker.clear(second)
            },
            WorkerCase("jobs of a higher priority begin first") { fixture in
                let recorder = Recorder()
                try await fixture.push(
                    try fixture.job("low", priority: 1),
                    try fixture.job("middle"),
                    try fixture.job("high", priority: 9)
                )
                let queues = [WorkerConfiguration.QueueShare(fixture.queue)]
                let workers = TestWorkers(
                    fixture,
                    WorkerConfiguration(queues: queues, concurrency: 1, lease: .seconds(2)),
                    [RegisteredOperation(Fixture.operation) { job in recorder.note(job.id) }]
                )
                try await fixture.eventually("all ran") { recorder.lines.count == 3 }
                try await workers.dismiss()
                #expect(recorder.lines == ["high", "middle", "low"])
            },
            WorkerCase("jobs claimed ahead that do not begin soon are released") { fixture in
                let latch = Latch()
                let recorder = Recorder()
                let queues = [WorkerConfiguration.QueueShare(fixture.queue)]
                let hog = TestWorkers(
                    fixture,
                    WorkerConfiguration(
                        queues: queues,
                        concurrency: 1,
                        lease: .seconds(2),
                        longestWait: .milliseconds(200),
                        stopGrace: .milliseconds(200)
                    ),
                    [
                        RegisteredOperation(Fixture.operation) { _ in },
                        RegisteredOperation("hog", timeout: .seconds(30)) { _ in
                            recorder.note("hogging")
                            try await latch.pass()
                        },
                    ]
                )
                // Short jobs make the worker claim ahead.
                _ = try await fixture.broker.push(
                    try (0..<200).map { try fixture.job("quick-\($0)") },
                    to: fixture.queue
                )
                try await fixture.eventually("quick ones ran") { try await fixture.total("finished") == 200 }
                _ = try await fixture.broker.push(
                    [try fixture.job("hog", operation: "hog")] + (0..<20).map { try fixture.job("kept-\($0)") },
                    to: fixture.queue
                )
                try await fixture.eventually("it hogs") { recorder.lines == ["hogging"] }
                let other = TestWorkers(fixture, [RegisteredOperation(Fixture.operation) { _ in }])
                try await fixture.eventually("the others ran elsewhere") { try await fixture.total("finished") == 220 }
                latch.open()
                try await fixture.eventually("the hog ended") { try await fixture.state("hog") == .finished }
                try await hog.dismiss()
                try await other.dismiss()
            },
        ]
    }
}
