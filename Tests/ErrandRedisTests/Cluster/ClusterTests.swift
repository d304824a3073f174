import Errand
import Foundation
import InMemoryLogging
import Logging
import Synchronization
import TestSupport
import Testing

@testable import ErrandRedis

/// What only a cluster does: redirections, moved slots, lost servers.
@Suite(.timeLimit(.minutes(3))) struct ClusterTests {
    private let logger = Logger(label: "cluster")

    private func broker(_ url: String, patience: Duration = .seconds(20)) throws -> RedisBroker {
        try RedisBroker(url: url, options: ConnectionOptions(patience: patience), logger: logger)
    }

    private func push(_ count: Int, to queue: String, on broker: RedisBroker) async throws -> [Receipt] {
        let jobs = try (0..<count).map { _ in try OperationDescription("work", queue: queue).makeEnvelope() }
        return try await broker.push(jobs, to: queue)
    }

    @Test func aPlainAddressOfOneServerFindsTheWholeCluster() async throws {
        let cluster = try RedisCluster()
        let broker = try broker(cluster.masters[2].tcpURL)
        defer { broker.close() }
        let queues = (0..<12).map { "queue-\($0)" }
        for queue in queues { #expect(try await push(3, to: queue, on: broker).allSatisfy { $0.outcome == .accepted }) }
        #expect(try await broker.queues() == queues.sorted())
        for queue in queues { #expect(try await broker.status(of: queue).queue.ready == 3) }
        #expect(Set(try queues.map { try cluster.server(of: $0).port }).count == 3, "the queues are on all servers")
        #expect(try await broker.auditRegistry(repair: false) == [])
    }

    @Test func aServerWithoutAClusterIsNamed() async throws {
        let server = try RedisServer(tcp: true)
        let broker = try broker(server.tcpURL.replacing("redis://", with: "redis+cluster://"))
        defer { broker.close() }
        let error = await #expect(throws: BrokerError.self) { try await broker.checkAddress() }
        #expect(
            error?.code == .refused && error?.message.contains("begins with redis://") == true,
            "\(error?.message ?? "")"
        )
    }

    /// Two servers that send callers to each other, or one to itself, must not keep them busy.
    @Test func redirectionsInACircleEndWithThePatience() async throws {
        let slot = HashSlot.of(queue: "images")
        let server = try AnsweringServer { words, port in
            switch words[0] {
            case "CLUSTER": "-ERR unknown command"
            default: words[0] == "EVALSHA" ? "-MOVED \(slot) 127.0.0.1:\(port)" : "+OK"
            }
        }
        let broker = try broker("redis://127.0.0.1:\(server.port)", patience: .seconds(1))
        defer { broker.close() }
        let error = await #expect(throws: BrokerError.self) { _ = try await push(1, to: "images", on: broker) }
        #expect(error?.code == .notReachable, "\(error?.message ?? "none")")
        let calls = server.commands.filter { $0[0] == "EVALSHA" }.count
        #expect((2...60).contains(calls), "\(calls) calls")
    }

    @Test func aReplicaThatIsAskedNamesTheMaster() async throws {
        let cluster = try RedisCluster(replicas: 1)
        let broker = try broker(cluster.replicas[1].tcpURL)
        defer { broker.close() }
        for queue in ["images", "mail", "files"] {
            #expect(try await push(1, to: queue, on: broker).first?.outcome == .accepted)
        }
    }

    /// As in Kubernetes, where addresses change.
    @Test func serversMayBeKnownByTheirNames() async throws {
        let cluster = try RedisCluster()
        for server in cluster.servers {
            try server.run("CONFIG", "SET", "cluster-announce-hostname", "localhost")
            try server.run("CONFIG", "SET", "cluster-preferred-endpoint-type", "hostname")
        }
        for server in cluster.servers {
            try await eventually("all names are known") {
                try !server.run("CLUSTER", "SLOTS").contains("?")
                    && server.run("CLUSTER", "NODES").components(separatedBy: ",localhost ").count == 4
            }
        }
        let broker = try broker(cluster.masters[0].tcpURL)
        defer { broker.close() }
        let queues = (0..<12).map { "queue-\($0)" }
        for queue in queues { #expect(try await push(1, to: queue, on: broker).first?.outcome == .accepted) }
        let states = try await broker.serverStates(for: queues)
        #expect(Set(states.map(\.address)) == Set(cluster.masters.map { "localhost:\($0.port)" }))
    }

    @Test func callsFollowASlotThatHasMoved() async throws {
        let cluster = try RedisCluster()
        let broker = try broker(cluster.url)
        defer { broker.close() }
        #expect(try await push(5, to: "images", on: broker).count == 5)
        let source = try cluster.server(of: "images")
        let target = try #require(cluster.masters.first { $0.port != source.port })
        try cluster.move("images", to: target)
        #expect(try await push(5, to: "images", on: broker).allSatisfy { $0.outcome == .accepted })
        #expect(try await broker.status(of: "images").queue.ready == 10)
        #expect(try await broker.audit("images", repair: false) == [])
    }

    /// While a slot is half moved, a script would see some of its queue's keys.
    @Test func noScriptRunsWhileASlotIsHalfMoved() async throws {
        let cluster = try RedisCluster()
        let broker = try broker(cluster.url)
        defer { broker.close() }
        #expect(try await push(5, to: "images", on: broker).count == 5)
        let source = try cluster.server(of: "images")
        let target = try #require(cluster.masters.first { $0.port != source.port })
        let pushed = Mutex<Task<[Receipt], any Error>?>(nil)
        try cluster.move("images", to: target) {
            pushed.withLock { $0 = Task { try await push(1, to: "images", on: broker) } }
            // Both servers refuse it, even for a client that follows ASK.
            let words = try self.wirePush(to: "images")
            #expect(try source.run(words).hasPrefix("ASK ") || source.run(words).hasPrefix("TRYAGAIN"))
            let answers = try target.runTogether([["ASKING"], words])
            #expect(answers.last?.hasPrefix("TRYAGAIN") == true, "\(answers)")
            // With one key the target would run it without the keys that are still at the source.
            let careless = words.enumerated().filter { $0.offset != 4 }.map { $0.offset == 2 ? "1" : $0.element }
            #expect(try target.runTogether([["ASKING"], careless]).last?.hasPrefix("ERRAND the keys must be") == true)
        }
        let receipts = try await pushed.withLock { $0 }?.value
        #expect(receipts?.map(\.outcome) == [.accepted])
        #expect(try await broker.status(of: "images").queue.ready == 6)
        #expect(try await broker.audit("images", repair: false) == [])
    }

    /// A push as a program in another language sends it.
    private func wirePush(to queue: String) throws -> [String] {
        let job = try OperationDescription("work", queue: queue).makeEnvelope()
        let text = String(decoding: Script.push.sharded.text, as: UTF8.self)
        return [
            "EVAL", text, "2", "errand:{\(queue)}", "errand:{\(queue)}:gate", job.id, "0", "i", "",
            String(decoding: job.bytes, as: UTF8.self),
        ]
    }

    @Test func eventsOfAllQueuesArriveOnceEach() async throws {
        let cluster = try RedisCluster()
        let broker = try broker(cluster.url)
        defer { broker.close() }
        let queues = (0..<6).map { "queue-\($0)" }
        for queue in queues { try await broker.createQueue(queue) }
        let heard = Mutex<[String: Int]>([:])
        let (subscribed, ready) = AsyncStream.makeStream(of: Void.self)
        let stream = broker.events(of: queues) { ready.yield() }
        let listening = Task {
            for try await events in stream { heard.withLock { $0[events.queue, default: 0] += events.lines.count } }
        }
        for await _ in subscribed { break }
        for queue in queues {
            let jobs = try await push(2, to: queue, on: broker)
            #expect(try await broker.cancel(jobs.map(\.id), on: queue) == [.cancelled, .cancelled])
        }
        try await eventually("all are heard") { heard.withLock { $0.values.reduce(0, +) >= 12 } }
        #expect(heard.withLock { $0 } == Dictionary(uniqueKeysWithValues: queues.map { ($0, 2) }))
        listening.cancel()
        let sent = try cluster.masters.map { try $0.run("CLUSTER", "INFO") }
        #expect(sent.allSatisfy { !$0.contains("messages_publish_sent") }, "no message goes to all servers")
    }

    @Test func aLostMasterIsReplacedByItsReplica() async throws {
        let cluster = try RedisCluster(replicas: 1, nodeTimeout: 3000)
        let log = InMemoryLogHandler()
        let broker = try RedisBroker(
            url: cluster.url,
            options: ConnectionOptions(patience: .seconds(40)),
            logger: Logger(label: "cluster") { _ in log }
        )
        defer { broker.close() }
        #expect(try await push(1, to: "images", on: broker).count == 1)
        let master = try cluster.server(of: "images")
        try await eventually("a replica has it") { try master.run("WAIT", "1", "1000") == "1" }
        master.kill(SIGKILL)
        // A push that is under way when the connection breaks is unknown; later ones wait for the replica.
        let receipts = try await push(1, to: "images", on: broker) + push(1, to: "images", on: broker)
        #expect(receipts.last?.outcome == .accepted)
        #expect(try cluster.server(of: "images").port != master.port)
        try await eventually("it was said that the broker was lost, and that it is back") {
            let told = log.entries.map { "\($0.level) \($0.message)" }.filter {
                $0.hasPrefix("warning the broker") || $0.hasPrefix("notice")
            }
            return told == [
                "warning the broker cannot be reached; calls wait for it",
                "notice the broker is back: other servers have the slots of a lost one",
            ]
        }
    }

    /// A server that hangs keeps its connections open.
    @Test func aMasterThatHangsIsReplacedByItsReplica() async throws {
        let cluster = try RedisCluster(replicas: 1, nodeTimeout: 1000)
        let options = ConnectionOptions(commandTimeout: .seconds(90), patience: .seconds(90))
        let broker = try RedisBroker(url: cluster.url, options: options, logger: logger)
        defer { broker.close() }
        #expect(try await push(1, to: "images", on: broker).count == 1)
        let master = try cluster.server(of: "images")
        try await eventually("a replica has it") { try master.run("WAIT", "1", "1000") == "1" }
        master.kill(SIGSTOP)
        defer { master.kill(SIGCONT) }
        let began = ContinuousClock.now
        #expect(try await push(1, to: "images", on: broker).map(\.outcome) == [.unknown], "it was under way")
        #expect(try await push(1, to: "images", on: broker).map(\.outcome) == [.accepted])
        #expect(.now - began < .seconds(85), "it was not the timeout of a command that ended it")
    }

    /// A subscription that is made before anybody has asked whether there is a cluster.
    /// It accepts connections, and does not reply to the first command.
    @Test func newConnectionsAreNotKeptByAMasterThatHangs() async throws {
        let cluster = try RedisCluster(replicas: 1, nodeTimeout: 1000)
        let master = try cluster.server(of: "images")
        defer { master.kill(SIGCONT) }
        master.kill(SIGSTOP)
        // Less than the timeout of a command.
        let broker = try broker(cluster.url, patience: .seconds(9))
        defer { broker.close() }
        #expect(try await push(1, to: "images", on: broker).first?.outcome == .accepted)
    }

    @Test func aSubscriptionBeforeTheFirstCallHearsAShard() async throws {
        let cluster = try RedisCluster()
        let pusher = try broker(cluster.url)
        defer { pusher.close() }
        let job = try #require(try await push(1, to: "images", on: pusher).first)
        let listener = try broker(try cluster.server(of: "images").tcpURL)
        defer { listener.close() }
        let heard = Mutex(0)
        let stream = listener.events(of: ["images"])
        let listening = Task { for try await events in stream { heard.withLock { $0 += events.lines.count } } }
        defer { listening.cancel() }
        let channel = KeySpace.events(of: "images")
        try await eventually("it has subscribed to the shard's channel") {
            try cluster.server(of: "images").run("PUBSUB", "SHARDNUMSUB", channel) == "\(channel)\n1"
        }
        #expect(try await pusher.cancel([job.id], on: "images") == [.cancelled])
        try await eventually("it is heard") { heard.withLock(\.self) == 1 }
    }

    /// A user who may not ask for the slot map can only be redirected.
    @Test func redirectionsSufficeWithoutTheSlotMap() async throws {
        let cluster = try RedisCluster()
        for server in cluster.servers { try server.run("ACL", "SETUSER", "errand", "-cluster|slots") }
        let broker = try broker(cluster.masters[0].tcpURL)
        defer { broker.close() }
        let queues = (0..<6).map { "queue-\($0)" }
        for _ in 0..<2 {
            for queue in queues { #expect(try await push(1, to: queue, on: broker).map(\.outcome) == [.accepted]) }
        }
        for queue in queues { #expect(try await broker.status(of: queue).queue.ready == 2) }
    }
}
