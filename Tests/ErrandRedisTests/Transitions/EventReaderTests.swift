import Errand
import Foundation
import TestSupport
import Testing

@testable import ErrandRedis

/// The events of jobs that finish together are published if anything may read them, and not made otherwise.
struct EventReaderTests {
    private let server: RedisServer
    private let broker: RedisBroker
    private let listener = EventListener()
    private let session = FullQueue.session("session-1")

    init() throws {
        server = try RedisServer(tcp: true, ["--repl-diskless-sync-delay", "0"])
        broker = try BrokenScripts.broker(on: server)
    }

    /// Runs jobs, and returns how many messages their ends have published.
    private func finish(_ count: Int = 40, on server: RedisServer, of broker: RedisBroker) async throws -> Int {
        let jobs = try (0..<count).map { try OperationDescription("work", id: "job-\($0)").makeEnvelope() }
        _ = try await broker.push(jobs, to: "default")
        try await broker.register(session, on: "default")
        let claims = try await broker.exchange(Calls.exchange(session, 1, [], wanted: count), on: "default").claims
        let reports = try Calls.finishes(of: claims)
        let before = try published(on: server)
        let reply = try await broker.exchange(Calls.exchange(session, 2, reports, wanted: 0), on: "default")
        #expect(reply.accepted == Array(repeating: true, count: count))
        return try published(on: server) - before
    }

    private func published(on server: RedisServer) throws -> Int {
        let calls = try server.run("INFO", "commandstats").split(separator: "\r\n").compactMap { line in
            line.hasPrefix("cmdstat_publish:calls=") ? Int(line.dropFirst(22).prefix { $0 != "," }) : nil
        }
        return calls.first ?? 0
    }

    private func expectAll() async throws {
        try await eventually("all events arrive") { listener.events.count >= 40 }
        #expect(listener.events.map(\.id) == (0..<40).map { "job-\($0)" })
        #expect(listener.events.allSatisfy { $0.event == "finished" && $0.durationMilliseconds == 0 })
    }

    @Test func nothingIsPublishedForNobody() async throws {
        defer { broker.close() }
        #expect(try await finish(on: server, of: broker) == 0)
        #expect(try await broker.status(of: "default").queue.totals.counts["finished"] == 40)
    }

    @Test func aFewEventsArePublishedWithoutAsking() async throws {
        defer { broker.close() }
        #expect(try await finish(15, on: server, of: broker) == 1)
    }

    @Test func subscribersOfTheChannelReceiveThem() async throws {
        defer { broker.close() }
        let subscriber = try await listener.listen(to: broker.address)
        defer { subscriber.cancel() }
        try #require(try await finish(on: server, of: broker) > 0)
        try await expectAll()
    }

    @Test func subscribersOfAPatternReceiveThem() async throws {
        defer { broker.close() }
        let subscriber = try await listener.listen(to: broker.address, "errand:{*}:events", kind: .patterns)
        defer { subscriber.cancel() }
        try #require(try await finish(on: server, of: broker) > 0)
        try await expectAll()
    }

    @Test func subscribersAtAReplicaReceiveThem() async throws {
        defer { broker.close() }
        let replica = try RedisServer(["--replicaof", "127.0.0.1", String(server.port)])
        try await eventually("the replica has its data") {
            try server.run("INFO", "replication").contains(",state=online,")
        }
        let subscriber = try await listener.listen(to: try RedisAddress(url: replica.url))
        defer { subscriber.cancel() }
        try #require(try await finish(on: server, of: broker) > 0)
        try await expectAll()
    }

    /// A replica that returns soon gets what it has missed, and passes it on.
    @Test func theyArePublishedAfterAReplicaHasLeft() async throws {
        defer { broker.close() }
        let replica = try RedisServer(["--replicaof", "127.0.0.1", String(server.port)])
        func replication() throws -> String { try server.run("INFO", "replication") }
        try await eventually("the replica has its data") { try replication().contains(",state=online,") }
        replica.kill(SIGKILL)
        try await eventually("it has left") { try replication().contains("connected_slaves:0") }
        #expect(try await finish(on: server, of: broker) > 0)
    }

    @Test func theStreamKeepsThem() async throws {
        defer { broker.close() }
        try await broker.createQueue("default")
        try await broker.configure("default", QueueSettings(keptEvents: 1000))
        #expect(try await finish(on: server, of: broker) > 0)
        let entries = try server.run("XRANGE", "errand:{default}:stream", "-", "+")
        for number in 0..<40 { #expect(entries.contains("\"id\":\"job-\(number)\"")) }
    }

    @Test(arguments: ["-pubsub", "-pubsub|numpat", "-info"])
    func theyArePublishedIfTheServerDoesNotSay(rule: String) async throws {
        let server = try RedisServer(rules: rule)
        let broker = try BrokenScripts.broker(on: server)
        defer { broker.close() }
        #expect(try await finish(on: server, of: broker) > 0)
    }
}
