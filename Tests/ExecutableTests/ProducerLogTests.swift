import TestSupport
import Testing

/// `errand-producer push --log-format`.
@Suite struct ProducerLogTests {
    private func entries(of output: Output) throws -> [[String: JSON]] {
        try output.error.split(separator: "\n").map { try JSON(text: String($0)).object }
    }

    @Test func messagesAreLogEntries() async throws {
        let server = try RedisServer()
        let lines = #"{"operation":"work"}"# + "\n{}\n"
        let output = try await Executable.producer.run(
            ["push", "--from", "-", "--json", "--log-format", "json"],
            on: server,
            input: lines
        )
        #expect(output.status == 65)
        #expect(output.lines.count == 1)
        let entries = try entries(of: output)
        let levels = entries.map { $0["level"]?.string ?? "none" }
        #expect(levels == ["info", "warning", "info", "error"], "\(output.error)")
        #expect(entries.allSatisfy { $0["label"] == "errand-producer" && $0["time"]?.string != nil })
        let messages = entries.map { $0["message"]?.string ?? "" }
        #expect(messages.first == "broker: \(server.shownURL)")
        #expect(messages.dropFirst().first?.hasPrefix("line 2: ") == true)
        #expect(messages.last == "1 line rejected; the rest was pushed")
    }

    @Test func anErrorIsAnEntry() async throws {
        let arguments = ["push", "work", "--catalogue", "/nowhere/catalogue.yaml"]
        let output = try await Executable.producer.run(arguments + ["--log-format", "json"])
        #expect(output.status == 78)
        let entries = try entries(of: output)
        #expect(entries.count == 1 && entries.first?["level"] == "error", "\(output.error)")
        #expect(entries.first?["message"]?.string?.contains("/nowhere/catalogue.yaml") == true)
        let plain = try await Executable.producer.run(arguments + ["--log-format", "text"])
        #expect(plain.error.hasPrefix("error: "), "\(plain.error)")
    }

    @Test func anotherFormatIsRejected() async throws {
        #expect(try await Executable.producer.run(["push", "work", "--log-format", "xml"]).status == 64)
    }
}
