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

    @Test func `the embedded broker of a machine that has only valkey-server stays on that server`() async throws {
        let place = NSTemporaryDirectory() + "ev-\(String(UInt32.random(in: 0 ... .max), radix: 36))"
        defer { try? FileManager.default.removeItem(atPath: place) }
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        let usual = try #require(ProcessInfo.processInfo.environment["PATH"])
        // The server's name decides, and not its engine.
        for (name, program) in [("valkey-server", "redis-server"), ("flock", "flock"), ("sleep", "sleep")] {
            let path = try #require(Self.find(program, in: usual), "no \(program) on PATH")
            try FileManager.default.createSymbolicLink(atPath: "\(place)/\(name)", withDestinationPath: path)
        }
        // The second time there is a redis-server, too.
        for path in [place, "\(usual):\(place)"] {
            let pushed = try await Executable.producer.run(
                ["push", "work", "--embedded", place + "/data"],
                environment: ["PATH": path]
            )
            #expect(pushed.status == 0, "\(pushed.error)")
            let configuration = try String(contentsOfFile: place + "/data/redis.conf", encoding: .utf8)
            #expect(configuration.contains("/valkey-server\n"))
            // Its guardian needs the programs beside it until then.
            try await until("the server has stopped") { Self.isUnlocked(place + "/data/server.lock") }
        }
    }

    private static func isUnlocked(_ path: String) -> Bool {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        return file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0
    }

    private static func find(_ program: String, in path: String) -> String? {
        path.split(separator: ":").map { "\($0)/\(program)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }
}
