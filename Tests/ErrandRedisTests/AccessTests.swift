import Errand
import Foundation
import Logging
import TestSupport
import Testing

@testable import ErrandRedis

/// The permissions of the user in `deploy/redis/errand.acl`, which the rest of the suite uses.
@Suite struct AccessTests {
    private static let rules: [Substring] = {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let file = root.appending(path: "deploy/redis/errand.acl")
        return (try? String(contentsOf: file, encoding: .utf8))?.split { $0.isWhitespace } ?? []
    }()

    /// The commands of the rules; `config|get` is a subcommand.
    private static let commands = rules.filter { $0.hasPrefix("+") }.map { String($0.dropFirst()) }

    private func broker(_ server: RedisServer) throws -> RedisBroker {
        RedisBroker(try RedisAddress(url: server.url), logger: Logger(label: "access"))
    }

    @Test(arguments: ["KEYS *", "CONFIG SET maxmemory 1", "FLUSHALL", "GET secret", "SET errand:x 1"])
    func `what Errand does not need is not permitted`(words: String) async throws {
        let server = try RedisServer()
        let broker = try broker(server)
        defer { broker.close() }
        var command = CommandWriter()
        let parts = words.split(separator: " ").map(String.init)
        command.begin(parts.count)
        for part in parts { command.add(part) }
        let error = await #expect(throws: BrokerError.self) { _ = try await broker.command(command, for: .anywhere) }
        #expect(error?.code == .notPermitted)
    }

    @Test func `no command is permitted that no script and no call uses`() throws {
        let sources = try Self.sources()
        #expect(Self.commands.count > 40)
        // Clients of clusters in other languages follow ASK.
        for command in Self.commands where command != "asking" {
            let words = command.uppercased().split(separator: "|")
            let isUsed = ["'", "\""].contains { quote in
                sources.contains(quote + words.joined(separator: "\(quote), \(quote)") + quote)
            }
            #expect(isUsed, "\(command) is permitted, and nothing calls it")
        }
    }

    private static func sources() throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources")
        var text = ""
        for folder in ["ErrandRedis", "ErrandConsole", "ErrandCommandLine"] {
            let files = FileManager.default.enumerator(
                at: root.appending(path: folder),
                includingPropertiesForKeys: nil
            )
            for case let file as URL in files ?? .init() where ["lua", "swift"].contains(file.pathExtension) {
                text += try String(contentsOf: file, encoding: .utf8)
            }
        }
        return text
    }

    @Test(arguments: ["-client", "-ping", "-select", "-info", "-config", "-scan", "-subscribe", "-psubscribe"])
    func `permissions beyond pushing and running are optional`(rule: String) async throws {
        let server = try RedisServer(rules: rule)
        let broker = RedisBroker(
            try RedisAddress(url: server.url),
            options: ConnectionOptions(confirmsWrites: true),
            logger: Logger(label: "access") { _ in SwiftLogNoOpLogHandler() }
        )
        defer { broker.close() }
        try await broker.ping()
        #expect(try await Producer(broker: broker).push(OperationDescription("work")).outcome == .accepted)
        let worker = Worker(
            broker: broker,
            operations: [RegisteredOperation("work") { _ in }],
            logger: Logger(label: "access") { _ in SwiftLogNoOpLogHandler() }
        )
        let running = Task { try await worker.run() }
        defer { running.cancel() }
        try await eventually("the job has finished") {
            try await broker.status(of: "default").queue.totals["finished"] == 1
        }
        running.cancel()
        try await running.value
        #expect(try await broker.auditRegistry(repair: false) == [])
        #expect(try await broker.audit("default", repair: false) == [])
    }

    @Test func `a server without CLIENT is used without a name`() async throws {
        let server = try RedisServer(restricted: false, ["--rename-command", "CLIENT", ""])
        let broker = try broker(server)
        defer { broker.close() }
        #expect(try await Producer(broker: broker).push(OperationDescription("work")).outcome == .accepted)
    }

    @Test func `a rejected login is reported, whatever the reply to the name`() async throws {
        let server = try RedisServer(["--requirepass", "another"])
        let broker = try broker(server)
        defer { broker.close() }
        let error = await #expect(throws: BrokerError.self) { try await broker.ping() }
        #expect(error?.code == .notPermitted)
    }

    /// The request to stop a running job is published. If that is not permitted, the job before it has replaced nothing.
    @Test func `a push that fails half way leaves no name without its job`() async throws {
        let server = try RedisServer(rules: "resetchannels &errand:{*}:events")
        let broker = try BrokenScripts.broker(on: server)
        defer { broker.close() }
        func jobs(_ policy: UniquenessPolicy, _ ids: String...) throws -> [JobEnvelope] {
            try zip(ids, ["waits", "runs"]).map { id, name in
                try OperationDescription("work", name: name, unique: policy, id: id).makeEnvelope()
            }
        }
        _ = try await broker.push(jobs(.drop, "first", "second"), to: "default")
        try await broker.register(FullQueue.session, on: "default")
        try server.run("LREM", "errand:{default}:ready:5", "1", "first")
        var calls = Calls(broker: broker, session: FullQueue.session)
        try #require(try await calls.claim(1).map(\.id) == ["second"])
        try server.run("RPUSH", "errand:{default}:ready:5", "first")
        let error = await #expect(throws: BrokerError.self) {
            _ = try await broker.push(jobs(.replace, "third", "fourth"), to: "default")
        }
        #expect(error?.code == .notPermitted)
        let receipt = try #require(try await broker.push(jobs(.drop, "fifth"), to: "default").first)
        #expect(receipt.outcome == .dropped && receipt.holder == "first")
        #expect(try await broker.inspect(["first", "third"], on: "default").map { $0?.state } == [.ready, nil])
    }

    @Test(arguments: [
        ("-evalsha", "evalsha"), ("-hmget", "HMGET"), ("-time", "TIME"), ("-publish", "PUBLISH"), ("-type", "TYPE"),
        ("resetkeys ~other:*", "key"), ("resetchannels &other:*", "channel"),
    ]) func `a missing permission is named, and the call is not repeated`(rule: String, word: String) async throws {
        let server = try RedisServer(rules: rule)
        let broker = try broker(server)
        defer { broker.close() }
        let desk = JobIDGenerator.next()
        let job = try OperationDescription("work", name: "one", unique: .drop, id: desk).makeEnvelope()
        let error = await #expect(throws: BrokerError.self) {
            _ = try await broker.push([job], to: "default")
            // The second job is replaced, which is published.
            _ = try await broker.push(
                [try OperationDescription("work", name: "one", unique: .drop).makeEnvelope()],
                to: "default"
            )
        }
        #expect(error?.code == .notPermitted)
        #expect(error?.message.contains(word) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("errand.acl") == true)
        let calls = try server.run("INFO", "commandstats").split(whereSeparator: \.isNewline)
            .filter { $0.contains("eval") }
        // By digest, by text, and by digest again for the second push: no call is repeated.
        let count = calls.compactMap { $0.split(separator: "=").dropFirst().first }.compactMap {
            Int($0.prefix { $0.isNumber })
        }
        #expect(count.reduce(0, +) <= 4, "\(calls)")
    }
}
