import Errand
import Testing

extension WorkerCase {
    static var running: [WorkerCase] {
        [
            WorkerCase("every job runs once and its result is kept") { fixture in
                let workers = TestWorkers(
                    fixture,
                    [
                        RegisteredOperation(
                            Fixture.operation,
                            handler: .blocking { job in .finished(result: Array("did \(job.id)".utf8)) }
                        )
                    ]
                )
                let ids = (0..<500).map { "job-\($0)" }
                _ = try await fixture.broker.push(try ids.map { try fixture.job($0) }, to: fixture.queue)
                try await fixture.eventually("all finished") { try await fixture.total("finished") == 500 }
                try await workers.dismiss()
                let record = try #require(try await fixture.record("job-499"))
                #expect(record.state == .finished)
                #expect(String(decoding: record.result, as: UTF8.self) == "did job-499")
                #expect(try await fixture.news().filter { $0.hasPrefix("finished") }.count == 500)
            },
            WorkerCase("a failed job is retried until it succeeds, and a snooze spends no attempt") { fixture in
                let recorder = Recorder()
                let workers = TestWorkers(
                    fixture,
                    [
                        RegisteredOperation(
                            Fixture.operation,
                            defaults: OperationDefaults(retries: 2),
                            retryStrategy: RetryDelays(base: .milliseconds(5)),
                            handler: .async { job in
                                recorder.note("attempt \(job.attempt)")
                                switch recorder.lines.count {
                                case 1: throw JobSnooze(for: .milliseconds(5))
                                case 2: throw JobFailure("not yet")
                                case 3: throw JobFailure("not yet either", retryAfter: .milliseconds(1))
                                default: return .finished()
                                }
                            }
                        )
                    ]
                )
                try await fixture.pushPlain("a")
                try await fixture.eventually("finished") { try await fixture.state("a") == .finished }
                try await workers.dismiss()
                #expect(recorder.lines == ["attempt 1", "attempt 1", "attempt 2", "attempt 3"])
                #expect(
                    try await fixture.news() == [
                        "retrying a", "failed a", "retrying a", "failed a", "retrying a", "finished a",
                    ]
                )
            },
            WorkerCase("a failed job is dead with its reason without retries left or on request") { fixture in
                let workers = TestWorkers(
                    fixture,
                    [
                        RegisteredOperation(Fixture.operation, retries: 5) { _ in
                            throw JobFailure("no use", isFinal: true)
                        },
                        RegisteredOperation("plain", retries: 0) { _ in throw JobFailure("broken") },
                    ]
                )
                try await fixture.push(try fixture.job("a"), try fixture.job("b", operation: "plain"))
                try await fixture.eventually("both dead") { try await fixture.status().dead == 2 }
                try await workers.dismiss()
                for (id, reason) in [("a", "no use"), ("b", "broken")] {
                    let record = try #require(try await fixture.record(id))
                    #expect(String(decoding: record.lastEvent, as: UTF8.self).contains(reason))
                }
            },
            WorkerCase("a timeout is published once and frees the slot, and the late end of the handler does not count")
            {
                fixture in
                let latch = Latch()
                let recorder = Recorder()
                let queues = [WorkerConfiguration.QueueShare(fixture.queue)]
                let workers = TestWorkers(
                    fixture,
                    WorkerConfiguration(
                        queues: queues,
                        concurrency: 1,
                        lease: .seconds(2),
                        stopGrace: .milliseconds(100)
                    ),
                    [
                        RegisteredOperation("stubborn", timeout: .milliseconds(100), retries: 0) { _ in
                            await Task { try? await latch.pass() }.value
                            recorder.note("late")
                        },
                        RegisteredOperation("obedient", timeout: .milliseconds(100), retries: 0) { _ in
                            try await latch.pass()
                        },
                        RegisteredOperation(Fixture.operation) { _ in },
                    ]
                )
                try await fixture.push(
                    try fixture.job("stubborn", operation: "stubborn"),
                    try fixture.job("obedient", operation: "obedient"),
                    try fixture.job("next")
                )
                try await fixture.eventually("the slot is free again") { try await fixture.state("next") == .finished }
                try await fixture.eventually("both timed out") { try await fixture.total("timed_out") == 2 }
                latch.open()
                try await fixture.eventually("the late handler has ended") { recorder.lines == ["late"] }
                try await workers.dismiss()
                let news = try await fixture.news()
                for id in ["stubborn", "obedient"] {
                    #expect(news.filter { $0.hasSuffix(" \(id)") } == ["timed_out \(id)", "dead \(id)"])
                }
            },
            WorkerCase("a job of an unknown operation waits for a worker that has it, and spends nothing") { fixture in
                let first = TestWorkers(fixture, [RegisteredOperation(Fixture.operation) { _ in }])
                try await fixture.push(try fixture.job("odd", operation: "odd"), try fixture.job("a"))
                try await fixture.eventually("the other is finished") { try await fixture.state("a") == .finished }
                try await fixture.eventually("it is reported") {
                    try await fixture.status().unknownOperations == ["odd": 1]
                }
                let second = TestWorkers(fixture, [RegisteredOperation("odd") { job in #expect(job.attempt == 1) }])
                try await fixture.eventually("it is finished") { try await fixture.state("odd") == .finished }
                try await first.dismiss()
                try await second.dismiss()
            },
            WorkerCase("a delayed job runs when it is due, and soon after") { fixture in
                let workers = TestWorkers(fixture, [RegisteredOperation(Fixture.operation) { _ in }])
                try await fixture.push(try fixture.job("later", delay: 400))
                #expect(try await fixture.state("later") == .scheduled)
                try await fixture.eventually("finished") {
                    try await fixture.state("later") == .finished
                }
                try await workers.dismiss()
            },
        ]
    }
}
