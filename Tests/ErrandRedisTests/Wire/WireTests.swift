import Errand
import Foundation
import Logging
import TestSupport
import Testing

@testable import ErrandRedis

/// The documents for clients in other languages.
struct WireTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        .standardizedFileURL

    @Test func thePublishedPushScriptIsTheOneThatIsSent() throws {
        let published = try Data(contentsOf: Self.root.appending(path: "docs/wire/push.lua"))
        #expect(Array(published) == Script.push.text, "run scripts/publish-push-script")
    }

    @Test func aProgramInPythonPushesWithAPolicyAndAWorkerRunsIt() async throws {
        let server = try RedisServer()
        let broker = RedisBroker(try RedisAddress(url: server.url), logger: Logger(label: "test"))
        defer { broker.close() }
        #expect(try push(server, id: "py-1", policy: "d", name: "größe \"eins\"") == #"[1, "a"]"#)
        #expect(try push(server, id: "py-2", policy: "d", name: "größe \"eins\"") == #"[0, "d:py-1"]"#)
        #expect(try push(server, id: "py-1", policy: "d", name: "größe \"eins\"") == #"[0, "e"]"#)
        #expect(try push(server, id: "py-3", policy: "r", name: "größe \"eins\"") == #"[0, "r:py-1"]"#)
        #expect(try push(server, id: "py-4", policy: "i", name: nil) == #"[0, "a"]"#)
        #expect(try await broker.queues() == ["wire"])
        // The library uses the same name.
        let mine = try OperationDescription("greet", queue: "wire", name: "größe \"eins\"", unique: .drop)
        let receipt = try await Producer(broker: broker).push(mine)
        #expect(receipt.outcome == .dropped)
        #expect(receipt.holder == "py-3")

        let (ran, run) = AsyncStream.makeStream(of: String.self)
        let worker = Worker(
            broker: broker,
            configuration: WorkerConfiguration(queues: [.init("wire")]),
            operations: [
                RegisteredOperation("greet") { job in run.yield("\(job.id) \(job.name ?? "-") \(job.arguments)") }
            ],
            logger: Logger(label: "test")
        )
        let working = Task { try await worker.run() }
        var seen: Set<String> = []
        for await text in ran {
            seen.insert(text)
            if seen.count == 2 { break }
        }
        working.cancel()
        try await working.value
        #expect(seen == [#"py-3 größe "eins" {"who": "wörld"}"#, #"py-4 - {"who": "wörld"}"#])
    }

    private func push(_ server: RedisServer, id: String, policy: String, name: String?) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            [
                "python3", Self.root.appending(path: "Tests/ErrandRedisTests/Wire/push.py").path, server.socket,
                Self.root.appending(path: "docs/wire/push.lua").path, "wire", id, policy, "greet", #"{"who":"wörld"}"#,
            ] + (name.map { [$0] } ?? [])
        let output = Pipe.forOneChild()
        process.standardOutput = output
        try process.start()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}
