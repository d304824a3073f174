import Errand
import Testing

extension WorkerCase {
    static var running: [WorkerCase] {
        [
            WorkerCase("every job is run once and its result kept") { stage in
                let crew = Crew(
                    stage,
                    [
                        RegisteredOperation(
                            Stage.operation,
                            handler: .blocking { job in .finished(result: Array("did \(job.id)".utf8)) }
                        )
                    ]
                )
                let ids = (0..<500).map { "job-\($0)" }
                _ = try await stage.broker.push(try ids.map { try stage.job($0) }, to: stage.queue)
                try await stage.eventually("all finished") { try await stage.total("finished") == 500 }
                try await crew.dismiss()
                let record = try #require(try await stage.record("job-499"))
                #expect(record.state == .finished)
                #expect(String(decoding: record.result, as: UTF8.self) == "did job-499")
                #expect(try await stage.news().filter { $0.hasPrefix("finished") }.count == 500)
            },
            WorkerCase("a failed job is tried again until it succeeds, and a snooze spends nothing") { stage in
                let diary = Diary()
                let crew = Crew(
                    stage,
                    [
                        RegisteredOperation(
                            Stage.operation,
                            defaults: OperationDefaults(retries: 2),
                            retryStrategy: RetryDelays(base: .milliseconds(5)),
                            handler: .async { job in
                                diary.note("attempt \(job.attempt)")
                                switch diary.lines.count {
                                case 1: throw JobSnooze(for: .milliseconds(5))
                                case 2: throw JobFailure("not yet")
                                case 3: throw JobFailure("not yet either", retryAfter: .milliseconds(1))
                                default: return .finished()
                                }
                            }
                        )
                    ]
                )
                try await stage.pushPlain("a")
                try await stage.eventually("finished") { try await stage.state("a") == .finished }
                try await crew.dismiss()
                #expect(diary.lines == ["attempt 1", "attempt 1", "attempt 2", "attempt 3"])
                #expect(
                    try await stage.news() == [
                        "retrying a", "failed a", "retrying a", "failed a", "retrying a", "finished a",
                    ]
                )
            },
            WorkerCase("without retries left, or when it says so, a failed job is dead with its reason") { stage in
                let crew = Crew(
                    stage,
                    [
                        RegisteredOperation(Stage.operation, retries: 5) { _ in
                            throw JobFailure("no use", isFinal: true)
                        },
                        RegisteredOperation("plain", retries: 0) { _ in throw JobFailure("broken") },
                    ]
                )
                try await stage.push(try stage.job("a"), try stage.job("b", operation: "plain"))
                try await stage.eventually("both dead") { try await stage.status().dead == 2 }
                try await crew.dismiss()
                for (id, reason) in [("a", "no use"), ("b", "broken")] {
                    let record = try #require(try await stage.record(id))
                    #expect(String(decoding: record.lastEvent, as: UTF8.self).contains(reason))
                }
            },
            WorkerCase("a timeout is published once, frees the slot, and the late handler counts for nothing") {
                stage in
                let gate = Gate()
                let diary = Diary()
                let queues = [WorkerConfiguration.QueueShare(stage.queue)]
                let crew = Crew(
                    stage,
                    WorkerConfiguration(
                        queues: queues,
                        concurrency: 1,
                        lease: .seconds(2),
                        stopGrace: .milliseconds(100)
                    ),
                    [
                        RegisteredOperation("stubborn", timeout: .milliseconds(100), retries: 0) { _ in
                            await Task { try? await gate.pass() }.value
                            diary.note("late")
                        },
                        RegisteredOperation("obedient", timeout: .milliseconds(100), retries: 0) { _ in
                            try await gate.pass()
                        },
                        RegisteredOperation(Stage.operation) { _ in },
                    ]
                )
                try await stage.push(
                    try stage.job("stubborn", operation: "stubborn"),
                    try stage.job("obedient", operation: "obedient"),
                    try stage.job("next")
                )
                try await stage.eventually("the slot is free again") { try await stage.state("next") == .finished }
                try await stage.eventually("both timed out") { try await stage.total("timed_out") == 2 }
                gate.open()
                try await stage.eventually("the late handler has ended") { diary.lines == ["late"] }
                try await crew.dismiss()
                let news = try await stage.news()
                for id in ["stubborn", "obedient"] {
                    #expect(news.filter { $0.hasSuffix(" \(id)") } == ["timed_out \(id)", "dead \(id)"])
                }
            },
            WorkerCase("an operation nobody knows waits for a worker that knows it, and spends nothing") { stage in
                let first = Crew(stage, [RegisteredOperation(Stage.operation) { _ in }])
                try await stage.push(try stage.job("odd", operation: "odd"), try stage.job("a"))
                try await stage.eventually("the other is finished") { try await stage.state("a") == .finished }
                try await stage.eventually("it is reported") {
                    try await stage.status().unknownOperations == ["odd": 1]
                }
                let second = Crew(stage, [RegisteredOperation("odd") { job in #expect(job.attempt == 1) }])
                try await stage.eventually("it is finished") { try await stage.state("odd") == .finished }
                try await first.dismiss()
                try await second.dismiss()
            },
            WorkerCase("a delayed job runs when its time has come, and soon after") { stage in
                let crew = Crew(stage, [RegisteredOperation(Stage.operation) { _ in }])
                try await stage.push(try stage.job("later", delay: 400))
                #expect(try await stage.state("later") == .scheduled)
                try await stage.eventually("finished") {
                    try await stage.state("later") == .finished
                }
                try await crew.dismiss()
            },
        ]
    }
}
