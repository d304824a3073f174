import Foundation
import TestSupport
import Testing

/// `errand-producer push --workflow`: what is refused before anything is sent.
@Suite struct ProducerWorkflowTests {
    private static let valid = "workflow: w\njobs:\n  a: {operation: x}\n"

    /// Pushes standard input to a broker that is not there.
    private func push(_ input: String, _ arguments: String...) async throws -> Output {
        let broker = ["--redis", "redis://127.0.0.1:\(try FreePorts.next())"]
        let all = ["push", "--workflow", "-"] + arguments + broker
        return try await Executable.producer.run(all, input: Array(input.utf8))
    }

    @Test(arguments: [
        ("", "standard input: is empty"),
        ("workflow: w\n", "jobs: is missing"),
        ("workflow: w\njobs:\n  a: {operation: x}\n  b: {operation: y, after: [c]}\n", #"no job has the key "c""#),
        ("workflow: w\njobs:\n  a: {operation: x, after: [b]}\n  b: {operation: y, after: [a]}\n", "a after b after a"),
        (#"{"workflow":"w","jobs":{"a":{"operation":"x","id":"1"}}}"#, "jobs.a.id"),
        ("workflow: w\njobs:\n  a: {operation: x, afer: b}\n", "jobs.a.afer"),
    ])
    func `an invalid file is refused with its place`(input: String, words: String) async throws {
        let output = try await push(input)
        #expect(output.status == 65, "\(output.error)")
        #expect(output.error.contains(words), "\(output.error)")
        #expect(output.bytes.isEmpty)
    }

    @Test(arguments: [
        (["--unique", "debounce"], "--unique drop or --unique replace"),
        (["--priority", "3"], "only --unique, --queue and --id"),
        (["--id", "one"], "is not a workflow's id"),
        (["--from", "-"], "exclude each other"),
    ])
    func `options that a workflow does not have are refused`(options: [String], words: String) async throws {
        let output = try await Executable.producer.run(
            ["push", "--workflow", "-"] + options,
            input: Array(Self.valid.utf8)
        )
        #expect(output.status == 64, "\(output.error)")
        #expect(output.error.contains(words), "\(output.error)")
    }

    @Test func `a file that is not there is named`() async throws {
        let output = try await Executable.producer.run(["push", "--workflow", "/nowhere/flow.yaml"])
        #expect(output.status == 65)
        #expect(output.error.contains("/nowhere/flow.yaml cannot be read"), "\(output.error)")
    }

    @Test func `an id of another home queue is refused`() async throws {
        let server = try RedisServer()
        let output = try await Executable.producer.run(
            ["push", "--workflow", "-", "--id", "other:4fJ0aQ9bX2cD7eHk"],
            on: server,
            input: Self.valid
        )
        #expect(output.status == 65)
        #expect(output.error.contains("is of queue other"), "\(output.error)")
    }

    @Test func `a broker that is not there is reported once`() async throws {
        let output = try await push(Self.valid, "--json")
        #expect(output.status == 69, "\(output.error)")
        #expect(output.bytes.isEmpty)
    }
}
