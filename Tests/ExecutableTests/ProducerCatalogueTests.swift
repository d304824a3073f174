import Errand
import ErrandRedis
import Foundation
import TestSupport
import Testing

/// `errand-producer push --catalogue`.
@Suite struct ProducerCatalogueTests {
    private let server: RedisServer
    private let catalogue: String

    init() throws {
        server = try RedisServer()
        catalogue = server.directory + "/catalogue.yaml"
        let text = """
            operations:
              checksum:
                run: [sha256sum, --, "{path}"]
                name: "checksum {path}"
                unique: drop
                timeout: 30s
                retries: 3
                backoff: {base: 2s, longest: 1m}
                queue: files
                priority: 7
            """
        try text.write(toFile: catalogue, atomically: true, encoding: .utf8)
    }

    private func push(_ arguments: String...) async throws -> Output {
        try await Executable.producer.run(["push"] + arguments + ["--catalogue", catalogue], on: server)
    }

    @Test func fillsInMissingFields() async throws {
        let output = try await push("checksum", #"{"path":"a.jpg"}"#, "--id", "one", "--json", "--priority", "2")
        #expect(try output.object["queue"] == "files")
        let desk = try await Desk(server)
        let record = try #require(try await desk.broker.inspect(["one"], on: "files").first ?? nil)
        let job = try JobEnvelope.read(stored: record.body)
        #expect(job.description.name == "checksum a.jpg")
        #expect(job.policy == .drop)
        #expect(job.timeout == .seconds(30))
        #expect(job.retries == 3)
        #expect(job.description.backoff == RetryDelays(base: .seconds(2), longest: .seconds(60)))
        #expect(job.priority == 2)
    }

    @Test func rejectsANameThatCannotBeFilledIn() async throws {
        let output = try await push("checksum", #"{"file":"a.jpg"}"#)
        #expect(output.status == 65)
        #expect(output.error.contains("\"path\" is missing"))
    }

    @Test func pushesAnUnknownOperationWithAWarning() async throws {
        let output = try await push("checksun", "--json")
        #expect(output.status == 0)
        #expect(output.error.contains("checksun"))
        #expect(try output.object["queue"] == "default")
    }

    @Test func fillsInLinesToo() async throws {
        let lines = #"{"operation":"checksum","arguments":{"path":"a"}}"# + "\n" + #"{"operation":"checksum"}"# + "\n"
        let output = try await Executable.producer.run(
            ["push", "--from", "-", "--json", "--catalogue", catalogue],
            on: server,
            input: lines
        )
        #expect(output.status == 65)
        #expect(try output.objects.map { $0["queue"] } == ["files"])
        #expect(output.error.contains("line 2: "))
    }

    @Test func badCatalogueIsBadConfiguration() async throws {
        try "operations: {checksum: {rum: [a]}}".write(toFile: catalogue, atomically: true, encoding: .utf8)
        let output = try await push("checksum")
        #expect(output.status == 78)
        #expect(output.error.contains("\"rum\""))
    }
}
