import Errand
import Testing

extension ConformanceCase {
    static let queues = [
        ConformanceCase("a queue that does not exist is not configured, and not made by that") { stage in
            let typo = stage.queue + "-typo"
            await #expect {
                try await stage.broker.configure(typo, QueueSettings(isPaused: true))
            } throws: {
                ($0 as? BrokerError)?.code == .queueNotFound
            }
            let cleared = try await stage.broker.clear(typo)
            #expect(cleared == 0)
            #expect(try await stage.broker.status(of: typo).queue.ready == 0)
            #expect(try await !stage.broker.hasQueue(typo))
            #expect(try await !stage.broker.queues().contains(typo))
        },
        ConformanceCase("a queue is created once, and can be configured then") { stage in
            let new = stage.queue + "-new"
            #expect(try await stage.broker.createQueue(new))
            #expect(try await !stage.broker.createQueue(new))
            #expect(try await stage.broker.hasQueue(new))
            #expect(try await stage.broker.queues().contains(new))
            try await stage.broker.configure(new, QueueSettings(isPaused: true))
            #expect(try await stage.broker.status(of: new).queue.isPaused)
            #expect(try await stage.broker.deleteQueue(new, force: false) == .deleted(jobs: 0))
            #expect(try await !stage.broker.hasQueue(new))
        },
        ConformanceCase("a push, a session and a schedule create their queue") { stage in
            let (pushed, scheduled) = (stage.queue + "-pushed", stage.queue + "-scheduled")
            _ = try await stage.broker.push([try OperationDescription("work", queue: pushed).settled()], to: pushed)
            try await stage.broker.put(
                Schedule("s", .every(.seconds(3600)), pushing: OperationDescription("work", queue: scheduled))
            )
            for queue in [pushed, scheduled] {
                #expect(try await stage.broker.hasQueue(queue))
                try await stage.broker.configure(queue, QueueSettings(publishesStarts: true))
                #expect(try await stage.broker.queues().contains(queue))
                try await stage.broker.deleteQueue(queue, force: true)
            }
        },
        ConformanceCase("a queue in use is deleted by force alone") { stage in
            #expect(try await stage.broker.deleteQueue(stage.queue + "-typo", force: true) == .notFound)
            let hand = try await stage.session()
            try await stage.pushPlain("a", "b")
            _ = try await hand.claimOne()
            #expect(
                try await stage.broker.deleteQueue(stage.queue, force: false)
                    == .inUse(jobs: 2, workers: 1, schedules: 0)
            )
            #expect(try await stage.broker.deleteQueue(stage.queue, force: true) == .deleted(jobs: 2))
            #expect(try await !stage.broker.hasQueue(stage.queue))
            #expect(try await stage.record("a") == nil)
            await #expect {
                _ = try await hand.exchange(wanted: 1)
            } throws: {
                ($0 as? BrokerError)?.code == .sessionLost
            }
        },
        ConformanceCase("a deleted queue begins anew") { stage in
            try await stage.broker.configure(stage.queue, QueueSettings(isPaused: true, maximumLength: 1))
            try await stage.pushPlain("a")
            try await stage.broker.deleteQueue(stage.queue, force: true)
            try await stage.pushPlain("a", "b")
            let status = try await stage.status()
            #expect(!status.isPaused && status.ready == 2)
            #expect(status.totals["pushed"] == 2)
            #expect(try await stage.broker.queues().contains(stage.queue))
        },
    ]
}
