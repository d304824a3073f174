import Errand
import Foundation
import InMemoryLogging
import Logging
import Synchronization
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
        let sentinels = try RedisSentinels(downAfter: 3000)
        let log = InMemoryLogHandler()
        let broker = try RedisBroker(
            url: sentinels.url,
            options: ConnectionOptions(patience: .seconds(60)),
            logger: Logger(label: "sentinels") { _ in log }
        )
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
        let told = log.entries.map { "\($0.level) \($0.message)" }
        #expect(told.contains("warning the broker cannot be reached; calls wait for it"))
        #expect(told.contains("notice the broker is back"))
    }

    @Test func `a sentinel that is taken for the server is named, with the URL to use`() async throws {
        let sentinels = try RedisSentinels(replicas: 0, sentinels: 1)
        let place = "127.0.0.1:\(sentinels.ports[0])"
        let broker = try broker("redis://:\(RedisSentinels.password)@\(place)")
        defer { broker.close() }
        let words = "is a sentinel, which has no data; use the URL redis+sentinel://\(place)/\(RedisSentinels.master)"
        let pushing = await #expect(throws: BrokerError.self) { try await push(on: broker) }
        let reading = await #expect(throws: BrokerError.self) { try await broker.queues() }
        let checking = await #expect(throws: BrokerError.self) { try await broker.checkAddress() }
        for error in [pushing, reading, checking] {
            #expect(error?.code == .refused && error?.message.contains(words) == true, "\(error?.message ?? "")")
        }
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

    /// The old master goes on as a replica, and answers heartbeats with READONLY.
    @Test func heartbeatsAndWakeUpsFollowTheMaster() async throws {
        let sentinels = try RedisSentinels()
        let broker = try broker(sentinels.url)
        defer { broker.close() }
        let session = Session(
            id: "session-1",
            host: "host",
            pid: 1,
            concurrency: 1,
            queues: ["default"],
            lease: .seconds(20),
            operations: ["work": OperationDefaults()]
        )
        try await broker.register(session, on: "default")
        let beats = Mutex(0)
        let woken = Mutex(0)
        let heartbeat = broker.startHeartbeat(of: session, on: ["default"], every: .milliseconds(200)) { _ in
            Token(0)
        } onBeat: { _, beat in
            if case .success = beat { beats.withLock { $0 += 1 } }
        }
        defer { heartbeat.stop() }
        let subscription = broker.wakeUps(for: session, on: ["default"]) { _ in woken.withLock { $0 += 1 } }
        defer { subscription.cancel() }
        try await eventually("it has a heartbeat") { beats.withLock(\.self) > 1 }
        try await eventually("the replica has the session") {
            try sentinels.servers[1].run("EXISTS", "errand:{default}:session:session-1") == "1"
        }
        #expect(try sentinels.ask("SENTINEL", "FAILOVER", RedisSentinels.master) == "OK")
        let promoted = try sentinels.awaitFailover(from: sentinels.servers[0])
        beats.withLock { $0 = 0 }
        try await eventually("the heartbeats go on") { beats.withLock(\.self) > 2 }
        let channel = "errand:{default}:wakeups:session-1"
        try await eventually("the new master has the subscription") {
            (try? promoted.run("PUBSUB", "NUMSUB", channel)) == "\(channel)\n1"
        }
    }

    /// The sentinels cannot reach the old master, so it stays one, and Errand could go on with it.
    @Test func aMasterThatGoesOnWithoutItsSentinelsIsLeft() async throws {
        let sentinels = try RedisSentinels()
        let broker = try broker(sentinels.url)
        defer { broker.close() }
        #expect(try await push(on: broker) == .accepted)
        let old = sentinels.servers[0]
        try await eventually("the replica has it") { try old.run("WAIT", "1", "1000") == "1" }
        // All users but Errand's are locked out.
        let lock = [["ACL", "SETUSER", "default", "off"], ["CLIENT", "KILL", "USER", "default", "SKIPME", "yes"]]
        #expect(try RedisServer.ask(old.socket, lock).first == "OK")
        let promoted = try sentinels.awaitFailover(from: old)
        try await eventually("pushes go to the new master") {
            _ = try await push(on: broker)
            return try promoted.run("LLEN", "errand:{default}:ready:5") != "1"
        }
    }

    @Test func aSentinelThatHangsIsNotWaitedFor() async throws {
        let sentinels = try RedisSentinels()
        sentinels.signal(SIGSTOP, 0)
        defer { sentinels.signal(SIGCONT, 0) }
        let broker = try broker(sentinels.url)
        defer { broker.close() }
        #expect(try await push(on: broker) == .accepted)
    }

    /// A replica, a port where nothing listens, and no address at all.
    @Test func sentinelsThatLieAreNotBelieved() async throws {
        let sentinels = try RedisSentinels()
        let (replica, free) = (sentinels.servers[1].port, try FreePorts.next())
        let places = [("127.0.0.1", replica), ("127.0.0.1", free), ("no\u{1}host", 1), ("127.0.0.1", 0)]
        let liars = try places.map { host, port in
            try AnsweringServer { words, _ in
                guard words[0] == "SENTINEL" else { return "+OK" }
                return "*2\r\n$\(host.utf8.count)\r\n\(host)\r\n$\(String(port).utf8.count)\r\n\(port)"
            }
        }
        let list = liars.map { "127.0.0.1:\($0.port)," }.joined()
        let broker = try broker(
            sentinels.url.replacing("127.0.0.1:\(sentinels.ports[0])", with: "\(list)127.0.0.1:\(sentinels.ports[0])")
        )
        defer { broker.close() }
        #expect(try await push(on: broker) == .accepted)
        for liar in liars { #expect(liar.commands.contains { $0[0] == "SENTINEL" }) }
    }

    /// Those beside a master that is cut off do not know of the failover.
    @Test func theSentinelWithTheHighestEpochIsRight() {
        let sentinels = (1...3).map { HostAndPort(host: "s", port: $0) }
        let latest = LatestFailover()
        #expect(latest.note(4, sentinels[0]) == nil && latest.note(4, sentinels[1]) == nil)
        #expect(latest.note(5, sentinels[2]) == sentinels[2])
        #expect(latest.note(5, sentinels[0]) == nil && latest.note(4, sentinels[1]) == nil)
        let other = LatestFailover()
        #expect(other.note(5, sentinels[2]) == nil)
        #expect(other.note(4, sentinels[0]) == sentinels[2] && other.note(4, sentinels[1]) == nil)
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

    @Test func sentinelsThatAllRefuseTheUserAreNotTriedAgain() async throws {
        let sentinels = try RedisSentinels(replicas: 0, sentinels: 2)
        let broker = try broker(sentinels.url.replacing(RedisSentinels.password, with: "guessed"))
        defer { broker.close() }
        let error = await #expect(throws: BrokerError.self) { try await broker.checkAddress() }
        #expect(error?.code == .notPermitted, "\(error?.message ?? "")")
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
