import Errand
import Testing

extension WorkerCase {
    static var sharing: [WorkerCase] {
        [
            WorkerCase("queues share the claims by their weights") { stage in
                let second = stage.queue + ".second"
                let diary = Diary()
                for (queue, prefix) in [(stage.queue, "a"), (second, "b")] {
                    let jobs = try (0..<200).map {
                        try OperationDescription(Stage.operation, queue: queue, id: "\(prefix)\($0)").settled()
                    }
                    _ = try await stage.broker.push(jobs, to: queue)
                }
                let crew = Crew(
                    stage,
                    WorkerConfiguration(
                        queues: [.init(stage.queue, weight: 3), .init(second, weight: 1)],
                        concurrency: 4,
                        lease: .seconds(2)
                    ),
                    [
                        RegisteredOperation(Stage.operation) { job in
                            diary.note(String(job.id.prefix(1)))
                            // Long enough that nothing is claimed ahead.
                            try await Task.sleep(for: .milliseconds(60))
                        }
                    ]
                )
                try await stage.eventually("eighty have begun") { diary.lines.count >= 80 }
                try await crew.dismiss()
                let shares = diary.lines.prefix(80).filter { $0 == "a" }.count
                #expect((52...68).contains(shares), "three of four, give or take")
                _ = try await stage.broker.clear(second)
            },
            WorkerCase("jobs of a higher priority begin first") { stage in
                let diary = Diary()
                try await stage.push(
                    try stage.job("low", priority: 1),
                    try stage.job("middle"),
                    try stage.job("high", priority: 9)
                )
                let queues = [WorkerConfiguration.QueueShare(stage.queue)]
                let crew = Crew(
                    stage,
                    WorkerConfiguration(queues: queues, concurrency: 1, lease: .seconds(2)),
                    [RegisteredOperation(Stage.operation) { job in diary.note(job.id) }]
                )
                try await stage.eventually("all ran") { diary.lines.count == 3 }
                try await crew.dismiss()
                #expect(diary.lines == ["high", "middle", "low"])
            },
            WorkerCase("what was claimed ahead and does not begin soon goes back to others") { stage in
                let gate = Gate()
                let diary = Diary()
                let queues = [WorkerConfiguration.QueueShare(stage.queue)]
                let hog = Crew(
                    stage,
                    WorkerConfiguration(
                        queues: queues,
                        concurrency: 1,
                        lease: .seconds(2),
                        longestWait: .milliseconds(200),
                        stopGrace: .milliseconds(200)
                    ),
                    [
                        RegisteredOperation(Stage.operation) { _ in },
                        RegisteredOperation("hog", timeout: .seconds(30)) { _ in
                            diary.note("hogging")
                            try await gate.pass()
                        },
                    ]
                )
                // Quick jobs teach the worker to claim ahead.
                _ = try await stage.broker.push(try (0..<200).map { try stage.job("quick-\($0)") }, to: stage.queue)
                try await stage.eventually("quick ones ran") { try await stage.total("finished") == 200 }
                _ = try await stage.broker.push(
                    [try stage.job("hog", operation: "hog")] + (0..<20).map { try stage.job("kept-\($0)") },
                    to: stage.queue
                )
                try await stage.eventually("it hogs") { diary.lines == ["hogging"] }
                let other = Crew(stage, [RegisteredOperation(Stage.operation) { _ in }])
                try await stage.eventually("the others ran elsewhere") { try await stage.total("finished") == 220 }
                gate.open()
                try await stage.eventually("the hog ended") { try await stage.state("hog") == .finished }
                try await hog.dismiss()
                try await other.dismiss()
            },
        ]
    }
}
