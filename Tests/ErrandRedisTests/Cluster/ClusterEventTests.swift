import Errand
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import ErrandRedis

/// Events of all queues of a cluster, each of which is published by the master that has the queue's slot.
@Suite(.timeLimit(.minutes(3))) struct ClusterEventTests {
    /// A stream of the events of all queues.
    private final class Listener: Sendable {
        private let counts = Mutex<[String: Int]>([:])
        private let error = Mutex<BrokerError?>(nil)
        private let task = Mutex<Task<Void, Never>?>(nil)

        /// Returns once the broker has confirmed the subscription.
        init(_ broker: RedisBroker) async {
            let (subscribed, ready) = AsyncStream.makeStream(of: Void.self)
            let stream = broker.events(of: nil) { ready.yield() }
            task.withLock { task in
                task = Task { [self] in
                    do {
                        for try await events in stream {
                            counts.withLock { $0[events.queue, default: 0] += events.lines.count }
                        }
                    } catch { self.error.withLock { $0 = error as? BrokerError } }
                }
            }
            for await _ in subscribed { break }
        }

        deinit { task.withLock { $0?.cancel() } }

        func count(of queue: String) -> Int { counts.withLock { $0[queue, default: 0] } }
        var end: BrokerError.Code? { error.withLock { $0?.code } }
    }

    private func broker(_ cluster: RedisCluster) throws -> RedisBroker {
        try RedisBroker(url: cluster.url, options: ConnectionOptions(), logger: Logger(label: "cluster"))
    }

    /// Publishes the event of a cancelled job.
    private func publish(on queue: String, of broker: RedisBroker) async throws {
        let job = try OperationDescription("work", queue: queue).makeEnvelope()
        _ = try await broker.push([job], to: queue)
        #expect(try await broker.cancel([job.id], on: queue) == [.cancelled])
    }

    @Test func aClusterWithoutQueuesIsSubscribedTo() async throws {
        let cluster = try RedisCluster()
        let broker = try broker(cluster)
        defer { broker.close() }
        let listener = await Listener(broker)
        try await eventually("events of a new queue are heard") {
            try await publish(on: "new", of: broker)
            return listener.count(of: "new") > 0
        }
    }

    @Test func newQueuesInterruptNoOthers() async throws {
        let cluster = try RedisCluster()
        let broker = try broker(cluster)
        defer { broker.close() }
        try await broker.createQueue("old")
        let listener = await Listener(broker)
        let publishing = Task {
            var published = 0
            while !Task.isCancelled {
                try await publish(on: "old", of: broker)
                published += 1
            }
            return published
        }
        for number in 0..<3 {
            let new = (0..<6).map { "new-\(number)-\($0)" }
            for queue in new { try await broker.createQueue(queue) }
            try await eventually("events of the new queues are heard") {
                for queue in new where listener.count(of: queue) == 0 { try await publish(on: queue, of: broker) }
                return new.allSatisfy { listener.count(of: $0) > 0 }
            }
        }
        publishing.cancel()
        let published = try await publishing.value
        try await eventually("all events are heard") { listener.count(of: "old") == published }
    }

    @Test func aClosedBrokerEndsTheStream() async throws {
        let cluster = try RedisCluster()
        let broker = try broker(cluster)
        let listener = await Listener(broker)
        broker.close()
        try await eventually("the stream ends") { listener.end == .closed }
    }

    @Test func oneMasterThatRefusesWritesIsFound() async throws {
        let cluster = try RedisCluster()
        let broker = try broker(cluster)
        defer { broker.close() }
        #expect(await broker.refusalOfWrites() == nil)
        try cluster.masters[1].run("CONFIG", "SET", "min-replicas-to-write", "1")
        #expect(await broker.refusalOfWrites()?.message.contains("\(cluster.masters[1].port)") == true)
    }
}
