import Foundation
import TestSupport
import Testing

/// The executables' choice of a broker.
@Suite struct ProducerBrokerTests {
    @Test func theOptionWinsOverTheEnvironment() async throws {
        let servers = try (0..<3).map { _ in try RedisServer() }
        let environment = ["ERRAND_REDIS_URL": servers[1].url, "REDIS_URL": servers[2].url]
        let option = try await Executable.producer.run(
            ["push", "a", "--redis", servers[0].url],
            environment: environment
        )
        #expect(option.error == "broker: \(servers[0].shownURL)\n")
        let errand = try await Executable.producer.run(["push", "b"], environment: environment)
        #expect(errand.error == "broker: \(servers[1].shownURL)\n")
        let redis = try await Executable.producer.run(["push", "c"], environment: ["REDIS_URL": servers[2].url])
        #expect(redis.error == "broker: \(servers[2].shownURL)\n")
        for (server, operation) in zip(servers, ["a", "b", "c"]) {
            let jobs = try await Executable.console.run(["jobs", "--json"], on: server)
            #expect(try jobs.objects.map { $0["operation"]?.string } == [operation])
        }
    }

    @Test func theEmbeddedBrokerKeepsItsDataFromOneCommandToTheNext() async throws {
        let directory = NSTemporaryDirectory() + "ee-\(String(UInt32.random(in: 0 ... .max), radix: 36))"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let pushed = try await Executable.producer.run(
            ["push", "work", "--id", "one"],
            environment: ["ERRAND_HOME": directory]
        )
        #expect(pushed.status == 0, "\(pushed.error)")
        #expect(pushed.error == "broker: embedded, \(directory)\n")
        let jobs = try await Executable.console.run(["jobs", "--json", "--embedded", directory])
        #expect(try jobs.object["id"] == "one")
    }
}
