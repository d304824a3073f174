import Errand
import Foundation
import TestSupport
import Testing

#if os(Linux)
    /// The failures that `errand top` shows.
    @Suite struct ConsoleTopFailuresTests {
        private let server: RedisServer

        init() throws { server = try RedisServer() }

        private func start() throws -> RunningExecutable {
            let environment = ["ERRAND_REDIS_URL": server.url, "TERM": "xterm"]
            return try RunningExecutable(
                .console,
                ["top", "--every", "100ms"],
                environment: environment,
                onTerminal: true
            )
        }

        private func push(_ lines: [String]) async throws {
            let input = lines.joined(separator: "\n")
            let output = try await Executable.producer.run(["push", "--from", "-"], on: server, input: input)
            #expect(output.status == 0, "\(output.error)")
        }

        /// The subscribed connection; empty if there is none.
        private func subscriber() throws -> String {
            let clients = try server.run("CLIENT", "LIST", "TYPE", "pubsub")
            return clients.split(separator: " ").first.map(String.init) ?? ""
        }

        private func quit(_ top: RunningExecutable) async -> Output {
            top.write(Array("q".utf8))
            return await top.end()
        }

        @Test func manyFailuresOfOneQueueHideNoneOfAnother() async throws {
            let desk = try await Desk(server, queues: ["a", "b"])
            try await push(Array(repeating: #"{"operation":"work","queue":"a"}"#, count: 55))
            try await push([#"{"operation":"work","queue":"b","id":"lonely"}"#])
            for _ in 0..<55 { try await desk.work(.failed, error: "one of many", queue: "a") }
            try await desk.work(.failed, error: "the only one", queue: "b")
            let top = try start()
            _ = try await top.line { $0.contains("lonely") && $0.contains("the only one") }
            #expect(await quit(top).status == 0)
        }

        @Test func eachIsShownOnceAlsoAfterTheConnectionWasLost() async throws {
            let desk = try await Desk(server)
            try await push(["one", "two"].map { #"{"operation":"work","id":"\#($0)"}"# })
            let top = try start()
            try await until("it listens") { try !subscriber().isEmpty }
            try await desk.work(.failed, error: "the first error")
            _ = try await top.line { $0.contains("the first error") }
            let before = try subscriber()
            try server.run("CLIENT", "KILL", "TYPE", "pubsub")
            try await until("it listens again") {
                let now = try subscriber()
                return !now.isEmpty && now != before
            }
            try await desk.work(.failed, error: "the second error")
            _ = try await top.line { $0.contains("the second error") }

            let output = await quit(top)
            let last = try #require(output.text.components(separatedBy: "\u{1B}[H").last)
            let shown = last.split(whereSeparator: \.isNewline).filter { $0.contains("the first error") }
            #expect(!shown.isEmpty)
            #expect(Set(shown).count == shown.count, "\(shown)")
        }
    }
#endif
