import Errand
import Foundation
import Logging
import TestSupport
import Testing

@testable import ErrandRedis

/// Brokers that find their server by sentinels.
@Suite(.timeLimit(.minutes(3))) struct SentinelTests {
    /// - Parameter timeout: The timeout of a command, half of which a push waits for replicas.
    private func broker(
        _ url: String,
        replicas: Int = 0,
        timeout: Duration = .seconds(30),
        patience: Duration = .seconds(60)
    ) throws -> RedisBroker {
        let options = ConnectionOptions(commandTimeout: timeout, patience: patience, replicas: replicas)
        return try RedisBroker(url: url, options: options, logger: Logger(label: "sentinels"))
    }

    private func push(on broker: RedisBroker) async throws -> Receipt.Outcome {
        let receipts = try await broker.push([try OperationDescription("work").makeEnvelope()], to: "default")
        return try #require(receipts.first).outcome
    }

    @Test func callsGoToTheMasterBeforeAndAfterAFailover() async throws {
        let sentinels = try RedisSentinels()
        let broker = try broker(sentinels.url)
        defer { broker.close() }
        #expect(try await push(on: broker) == .accepted)
        let (master, replica) = (sentinels.servers[0], sentinels.servers[1])
        #expect(try master.run("LLEN", "errand:{default}:ready:5") == "1")
        try await eventually("the replica has it") { try master.run("WAIT", "1", "1000") == "1" }
        master.kill(SIGKILL)
        _ = try await push(on: broker)
        #expect(try await push(on: broker) == .accepted)
        #expect(try sentinels.awaitFailover(from: master).port == replica.port)
        #expect(try await broker.status(of: "default").queue.ready >= 2)
    }

    @Test func aMasterThatIsDemotedIsLeft() async throws {
        let sentinels = try RedisSentinels()
        let broker = try broker(sentinels.url)
        defer { broker.close() }
        #expect(try await push(on: broker) == .accepted)
        #expect(try sentinels.ask("SENTINEL", "FAILOVER", RedisSentinels.master) == "OK")
        let promoted = try sentinels.awaitFailover(from: sentinels.servers[0])
        try await eventually("the old master is a replica") {
            // A sentinel closes the connections of a server to which it gives another role.
            (try? sentinels.servers[0].run("ROLE").hasPrefix("slave")) == true
        }
        #expect(try await push(on: broker) == .accepted)
        #expect(promoted.port == sentinels.servers[1].port)
    }

    @Test func aSentinelThatHangsIsNotWaitedFor() async throws {
        let sentinels = try RedisSentinels()
        sentinels.signal(SIGSTOP, 0)
        defer { sentinels.signal(SIGCONT, 0) }
        let broker = try broker(sentinels.url)
        defer { broker.close() }
        #expect(try await push(on: broker) == .accepted)
    }

    @Test func aMasterThatNoSentinelKnowsIsAnError() async throws {
        let sentinels = try RedisSentinels(sentinels: 1)
        let url = sentinels.url.replacing("/\(RedisSentinels.master)?", with: "/another?")
        let broker = try broker(url, patience: .milliseconds(200))
        defer { broker.close() }
        let error = await #expect(throws: BrokerError.self) { _ = try await push(on: broker) }
        #expect(error?.code == .notReachable)
        #expect(error?.message.contains("knows no master another") == true, "\(error?.message ?? "")")
        #expect(error?.message.contains(RedisSentinels.password) == false)
    }

    @Test func pushesWaitForReplicas() async throws {
        let sentinels = try RedisSentinels()
        let broker = try broker(sentinels.url, replicas: 1)
        let demanding = try self.broker(sentinels.url, replicas: 2, timeout: .seconds(2))
        let impatient = try self.broker(sentinels.url, replicas: 1, timeout: .seconds(2))
        defer { for broker in [broker, demanding, impatient] { broker.close() } }
        #expect(try await push(on: broker) == .accepted)
        #expect(try await push(on: demanding) == .unknown, "there is one replica")
        sentinels.servers[1].kill(SIGSTOP)
        defer { sentinels.servers[1].kill(SIGCONT) }
        #expect(try await push(on: impatient) == .unknown, "the replica has not confirmed it")
    }

    /// A repeated push whose job exists is accepted only when the replicas have that job.
    @Test func aRepeatedPushWaitsForTheFirstOne() async throws {
        let sentinels = try RedisSentinels()
        let broker = try broker(sentinels.url, replicas: 1)
        let impatient = try self.broker(sentinels.url, replicas: 1, timeout: .seconds(2))
        defer { for broker in [broker, impatient] { broker.close() } }
        let job = try OperationDescription("work").makeEnvelope()
        sentinels.servers[1].kill(SIGSTOP)
        defer { sentinels.servers[1].kill(SIGCONT) }
        #expect(try await impatient.push([job], to: "default").map(\.outcome) == [.unknown])
        #expect(try await impatient.push([job], to: "default").map(\.outcome) == [.unknown])
        sentinels.servers[1].kill(SIGCONT)
        #expect(try await broker.push([job], to: "default").map(\.outcome) == [.exists])
    }
}
