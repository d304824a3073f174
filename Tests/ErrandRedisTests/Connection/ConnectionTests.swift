import Errand
import Foundation
import Logging
import TestSupport
import Testing

@testable import ErrandRedis

struct ConnectionTests {
    private func broker(_ server: RedisServer, patience: Duration = .seconds(10)) throws -> RedisBroker {
        RedisBroker(
            try RedisAddress(url: server.url),
            options: ConnectionOptions(patience: patience),
            logger: Logger(label: "test")
        )
    }

    @Test func manyCallersGetTheirOwnReplies() async throws {
        let server = try RedisServer(restricted: false)
        let broker = try broker(server)
        defer { broker.close() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<2000 {
                group.addTask {
                    let echoed = try await broker.command(.command("ECHO", "\(number)"), for: .anywhere).text
                    #expect(echoed == "\(number)")
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func continuesAfterARestartOfTheServer() async throws {
        let server = try RedisServer(restricted: false)
        let broker = try broker(server)
        defer { broker.close() }
        try await broker.ping()
        server.kill(SIGKILL)
        try server.start()
        // The idle connection was seen to be closed before anything was written, so nothing is unknown.
        try await broker.ping()
    }

    @Test func aCallThatWaitsTooLongForAConnectionIsNotSent() async throws {
        let server = try RedisServer(restricted: false)
        let broker = try broker(server, patience: .milliseconds(300))
        defer { broker.close() }
        server.kill(SIGKILL)
        let error = await #expect(throws: BrokerError.self) { try await broker.ping() }
        #expect(error?.code == .notReachable)
    }

    @Test func aLostAnswerIsUnknown() async throws {
        let server = try RedisServer(restricted: false)
        let broker = try broker(server)
        defer { broker.close() }
        try await broker.ping()
        let waiting = Task { try await broker.command(.command("BLPOP", "nothing", "5"), for: .anywhere) }
        while try !server.run("CLIENT", "LIST").contains("cmd=blpop") { await Task.yield() }
        server.kill(SIGKILL)
        let error = await #expect(throws: BrokerError.self) { try await waiting.value }
        #expect(error?.code == .outcomeUnknown)
    }

    @Test func wrongCredentialsAreNotPermitted() async throws {
        let server = try RedisServer(tcp: true, ["--requirepass", "hush-hush"])
        for url in ["redis://127.0.0.1:\(server.port)", "redis://:wrong-word@127.0.0.1:\(server.port)"] {
            let broker = RedisBroker(try RedisAddress(url: url), logger: Logger(label: "test"))
            defer { broker.close() }
            let error = await #expect(throws: BrokerError.self) { try await broker.ping() }
            #expect(error?.code == .notPermitted)
            #expect(error?.message.contains("wrong-word") == false)
        }
        let broker = RedisBroker(
            try RedisAddress(url: "redis://:hush-hush@127.0.0.1:\(server.port)"),
            logger: Logger(label: "test")
        )
        defer { broker.close() }
        try await broker.ping()
    }

    @Test func anotherKindOfServerIsRejected() async throws {
        let server = try SilentServer(answer: "HTTP/1.1 400 Bad Request\r\n\r\n")
        let broker = RedisBroker(
            try RedisAddress(url: "redis://127.0.0.1:\(server.port)"),
            options: ConnectionOptions(commandTimeout: .milliseconds(500), patience: .milliseconds(400)),
            logger: Logger(label: "test")
        )
        defer { broker.close() }
        let error = await #expect(throws: BrokerError.self) { try await broker.ping() }
        #expect(error?.code == .notReachable)
    }

    @Test func aServerThatHasLostItsScriptsGetsTheTextAgain() async throws {
        let server = try RedisServer(restricted: false)
        let broker = try broker(server)
        defer { broker.close() }
        for number in 0..<5 {
            try server.run("SCRIPT", "FLUSH")
            let receipt = try await Producer(broker: broker).push(OperationDescription("noop", id: "job-\(number)"))
            #expect(receipt.outcome == .accepted)
        }
    }

    @Test func aPushIntoFullMemoryIsRejectedWhileRunsCanEnd() async throws {
        let server = try RedisServer(restricted: false)
        let broker = try broker(server)
        defer { broker.close() }
        let session = Session(
            id: "session-1",
            host: "h",
            pid: 1,
            concurrency: 1,
            queues: ["default"],
            lease: .seconds(30),
            operations: ["noop": OperationDefaults()]
        )
        try await broker.register(session, on: "default")
        try await Producer(broker: broker).push(OperationDescription("noop", id: "first"))
        func exchange(_ call: Int, _ reports: [OutcomeReport], wanted: Int) async throws -> ExchangeReply {
            try await broker.exchange(
                Exchange(
                    session: session,
                    call: call,
                    reports: reports,
                    wanted: wanted,
                    freeSlots: 1,
                    begun: 0,
                    longestWait: .seconds(2),
                    stopGrace: .seconds(2)
                ),
                on: "default"
            )
        }
        let claim = try #require(try await exchange(1, [], wanted: 1).claims.first)
        try server.run("CONFIG", "SET", "maxmemory", "1")
        let error = await #expect(throws: BrokerError.self) {
            try await Producer(broker: broker).push(OperationDescription("noop", id: "second"))
        }
        #expect(error?.code == .full)
        let report = OutcomeReport(
            id: claim.id,
            token: claim.token,
            verb: .finished,
            attempt: 1,
            fragment: Array(#""operation":"noop","name":null"#.utf8)
        )
        #expect(try await exchange(2, [report], wanted: 0).accepted == [true])
        try server.run("CONFIG", "SET", "maxmemory", "0")
        #expect(
            try await Producer(broker: broker).push(OperationDescription("noop", id: "second")).outcome == .accepted
        )
    }
}
