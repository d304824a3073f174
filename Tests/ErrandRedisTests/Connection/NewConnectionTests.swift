import Errand
import Logging
import TestSupport
import Testing

@testable import ErrandRedis

/// After a failover, an address may lead to another server than an existing connection.
@Suite(.timeLimit(.minutes(6))) struct NewConnectionTests {
    private let server: RedisServer
    private let connection: Connection

    init() throws {
        server = try RedisServer(restricted: false)
        connection = Connection(
            try RedisAddress(url: server.url),
            ConnectionOptions(),
            logger: Logger(label: "new connection")
        )
    }

    /// The server's id of the current connection.
    private func number() async throws -> Int64 {
        try #require(try await connection.send(.command("CLIENT", "ID")).first?.number)
    }

    /// The error code with which a command is rejected.
    private func refusal(of command: CommandWriter) async throws -> String? {
        guard case .error(let text)? = try await connection.send(command).first else { return nil }
        return ServerError(text).word
    }

    @Test func `a server that has become a replica is asked for another connection`() async throws {
        defer { connection.close() }
        let first = try await number()
        try server.run("REPLICAOF", "127.0.0.1", "1")
        #expect(try await number() == first)
        #expect(try await refusal(of: .command("SET", "key", "value")) == "READONLY")
        #expect(try await number() != first)
    }

    @Test func `a replica without its master is left, too`() async throws {
        defer { connection.close() }
        let first = try await number()
        try server.run("CONFIG", "SET", "replica-serve-stale-data", "no")
        try server.run("REPLICAOF", "127.0.0.1", "1")
        #expect(try await refusal(of: .command("GET", "key")) == "MASTERDOWN")
        #expect(try await number() != first)
    }

    @Test func `other rejections cost no connection`() async throws {
        defer { connection.close() }
        let first = try await number()
        #expect(try await refusal(of: .command("NOSUCHCOMMAND")) == "ERR")
        try server.refuseWrites(true)
        #expect(try await refusal(of: .command("SET", "key", "value")) == "NOREPLICAS")
        #expect(try await number() == first)
    }
}
