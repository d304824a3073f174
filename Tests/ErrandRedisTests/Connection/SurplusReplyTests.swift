import Errand
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

@testable import ErrandRedis

/// Surplus and missing replies: each request gets its own reply, or an unknown outcome.
@Suite(.timeLimit(.minutes(6))) struct SurplusReplyTests {
    /// A change of a reply.
    enum Damage: CaseIterable {
        case before, behind, twice, swallowed

        func apply(to answer: [UInt8]) -> [UInt8] {
            switch self {
            case .before: Array("+surplus\r\n".utf8) + answer
            case .behind: answer + Array("+surplus\r\n".utf8)
            case .twice: answer + answer
            case .swallowed: []
            }
        }
    }

    private let server: RedisServer
    private let proxy: ChaosProxy
    private let broker: RedisBroker

    init() throws {
        server = try RedisServer(restricted: false)
        proxy = try ChaosProxy(to: server)
        broker = RedisBroker(
            try RedisAddress(url: proxy.url),
            options: ConnectionOptions(commandTimeout: .seconds(4)),
            logger: Logger(label: "surplus")
        )
    }

    private func echo(_ word: String) async throws(BrokerError) -> String? {
        try await broker.command(.command("ECHO", word), for: .anywhere).text
    }

    private func damage(_ word: String, _ damage: Damage, slow: String? = nil) {
        proxy.corrupt { request, answer in
            // The server delays one of them, so that the others' replies have long arrived.
            if let slow, request.contains(slow) { Thread.sleep(forTimeInterval: 0.3) }
            return request.contains(word) ? damage.apply(to: answer) : nil
        }
    }

    @Test(arguments: Damage.allCases) func `later requests get their own answers`(damage: Damage) async throws {
        defer { broker.close(); proxy.close() }
        // No mark of a group of commands can contain this word, because marks have no capitals.
        self.damage("ODD", damage)
        for round in 0..<3 {
            do throws(BrokerError) {
                #expect(try await echo("ODD") == "ODD")
            } catch {
                #expect(error.code == .outcomeUnknown)
            }
            for number in 0..<5 { #expect(try await echo("\(round)-\(number)") == "\(round)-\(number)") }
        }
        #expect(proxy.corruptedReplies == 3)
    }

    @Test(arguments: Damage.allCases) func `no request of a batch gets another's answer`(damage: Damage) async throws {
        defer { broker.close(); proxy.close() }
        proxy.treat { $0.contains("opener") ? .hold : .pass }
        self.damage("word-3", damage, slow: "word-9")
        let opener = Task { try await broker.command(.command("ECHO", "opener"), for: .anywhere).text }
        try await eventually("the opener is held") { proxy.heldRequests == 1 }
        let answers = Mutex<[Int: Result<[RESPValue], BrokerError>]>([:])
        let route = try #require(try await broker.servers.route(to: .anywhere, until: .now + .seconds(10)))
        for number in 0..<10 {
            route.connection.send(.command("ECHO", "word-\(number)")) { answer in
                answers.withLock { $0[number] = answer }
            }
        }
        proxy.release()
        try await eventually("all are answered") { answers.withLock(\.count) == 10 }
        #expect(try await opener.value == "opener")
        for (number, answer) in answers.withLock({ $0 }) {
            switch answer {
            case .success(let replies): #expect(replies.map(\.text) == ["word-\(number)"])
            case .failure(let error): #expect(error.code == .outcomeUnknown)
            }
        }
        #expect(proxy.corruptedReplies == 1)
        #expect(try await echo("afterwards") == "afterwards")
    }

    @Test func `a surplus reply costs no request its outcome`() async throws {
        defer { broker.close(); proxy.close() }
        proxy.corrupt { request, answer in request.contains("PING") ? answer + Array("+surplus\r\n".utf8) : nil }
        for number in 0..<5 { #expect(try await echo("\(number)") == "\(number)") }
        // The first call asks whether there is a cluster before.
        #expect(proxy.corruptedReplies == 6)
    }

    @Test func `a rejection at the end of a batch is no surplus`() async throws {
        defer { broker.close(); proxy.close() }
        // A server whose disk is full rejects even PING, and continues to read.
        proxy.corrupt { request, _ in request.contains("PING") ? Array("-MISCONF the disk is full\r\n".utf8) : nil }
        for word in ["one", "two"] { #expect(try await echo(word) == word) }
        #expect(proxy.corruptedReplies == 3)
    }
}
