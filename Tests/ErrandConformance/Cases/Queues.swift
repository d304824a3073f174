import Errand
import Testing

extension ConformanceCase {
    static let queues = [
        ConformanceCase("configuring a queue that does not exist fails and does not create it") { fixture in
            let typo = fixture.queue + "-typo"
            await #expect {
                try await fixture.broker.configure(typo, QueueSettings(isPaused: true))
            } throws: {
                ($0 as? BrokerError)?.code == .queueNotFound
            }
            let cleared = try await fixture.broker.clear(typo)
            #expect(cleared == 0)
            #expect(try await fixture.broker.status(of: typo).queue.ready == 0)
            #expect(try await !fixture.broker.hasQueue(typo))
            #expect(try await !fixture.broker.queues().contains(typo))
        },
        ConformanceCase("a queue is created once and can then be configured") { fixture in
            let new = fixture.queue + "-new"
            #expect(try await fixture.broker.createQueue(new))
            #expect(try await !fixture.broker.createQueue(new))
            #expect(try await fixture.broker.hasQueue(new))
            #expect(try await fixture.broker.queues().contains(new))
            try await fixture.broker.configure(new, QueueSettings(isPaused: true))
            #expect(try await fixture.broker.status(of: new).queue.isPaused)
            #expect(try await fixture.broker.deleteQueue(new, force: false) == .deleted(jobs: 0))
            #expect(try await !fixture.broker.hasQueue(new))
        },
        ConformanceCase("a name that no queue may have is refused and named") { fixture in
            for name in ["my mail", "", String(repeating: "q", count: 129), "a}b"] {
                await #expect {
                    try await fixture.broker.createQueue(name)
                } throws: { error in
                    let message = (error as? BrokerError)?.message ?? ""
                    return message == "queue \"\(name)\": the name must match [A-Za-z0-9_.-]{1,128}"
                }
            }
        },
        ConformanceCase("a push, a session and a schedule create their queue") { fixture in
            let (pushed, scheduled) = (fixture.queue + "-pushed", fixture.queue + "-scheduled")
            _ = try await fixture.broker.push(
                [try OperationDescription("work", queue: pushed).makeEnvelope()],
                to: pushed
            )
            try await fixture.broker.put(
                Schedule("s", .every(.seconds(3600)), pushing: OperationDescription("work", queue: scheduled))
            )
            for queue in [pushed, scheduled] {
                #expect(try await fixture.broker.hasQueue(queue))
                try await fixture.broker.configure(queue, QueueSettings(publishesStarts: true))
                #expect(try await fixture.broker.queues().contains(queue))
                try await fixture.broker.deleteQueue(queue, force: true)
            }
        },
        ConformanceCase("a queue in use is deleted only with force") { fixture in
            #expect(try await fixture.broker.deleteQueue(fixture.queue + "-typo", force: true) == .notFound)
            let session = try await fixture.session()
            try await fixture.pushPlain("a", "b")
            _ = try await session.claimOne()
            #expect(
                try await fixture.broker.deleteQueue(fixture.queue, force: false)
                    == .inUse(jobs: 2, workers: 1, schedules: 0)
            )
            #expect(try await fixture.broker.deleteQueue(fixture.queue, force: true) == .deleted(jobs: 2))
            #expect(try await !fixture.broker.hasQueue(fixture.queue))
            #expect(try await fixture.record("a") == nil)
            await #expect {
                _ = try await session.exchange(wanted: 1)
            } throws: {
                ($0 as? BrokerError)?.code == .sessionLost
            }
        },
        ConformanceCase("a deleted queue starts empty") { fixture in
            try await fixture.broker.configure(fixture.queue, QueueSettings(isPaused: true, maximumLength: 1))
            try await fixture.pushPlain("a")
            try await fixture.broker.deleteQueue(fixture.queue, force: true)
            try await fixture.pushPlain("a", "b")
            let status = try await fixture.status()
            #expect(!status.isPaused && status.ready == 2)
            #expect(status.totals["pushed"] == 2)
            #expect(try await fixture.broker.queues().contains(fixture.queue))
        },
    ]
}
