import Foundation
import TestSupport
import Testing

/// The commands and settings in `deploy` and `docker-compose.yml`.
@Suite struct DeploymentCommandTests {
    @Test(arguments: [
        "docker-compose.yml", "deploy/kubernetes/errand.yaml", "deploy/systemd/errand-dashboard.service",
        "deploy/systemd/errand-worker@.service", "deploy/prometheus/alerts.yaml",
    ])
    func givesOnlyOptionsThatHelpLists(_ path: String) async throws {
        let commands = try DeploymentCommand.all(in: path)
        #expect(commands.contains { !$0.options.isEmpty })
        for command in commands {
            let unknown = command.options.subtracting(try await command.knownOptions())
            #expect(unknown == [], "\(path): \(command)")
        }
    }

    @Test func findsAnOptionThatIsNotThere() async throws {
        for line in ["errand-worker --catalog a.yaml", "tini -- /usr/local/bin/errand jobs --stat dead & wait --now"] {
            let command = try #require(DeploymentCommand(line.split(separator: " ").map(String.init)))
            let unknown = command.options.subtracting(try await command.knownOptions())
            #expect(unknown.count == 1 && !unknown.contains("--now"), "\(command)")
        }
        let right = try #require(DeploymentCommand(["errand", "jobs", "--state=dead", "--queue", "images"]))
        #expect(right.options.subtracting(try await right.knownOptions()) == [])
    }

    /// The variables of Errand that a file sets.
    private func variables(of path: String) throws -> Set<String> {
        guard path.hasSuffix(".yaml") || path.hasSuffix(".yml") else {
            let text = try DeploymentFiles.text(path)
            return Set(text.matches(of: /(ERRAND_[A-Z_]+)=/).map { String($0.output.1) })
        }
        let documents = try DeploymentFiles.documents(path)
        let composed = documents.flatMap { $0["services"].members.values }.flatMap { $0["environment"].members.keys }
        let containers = documents.flatMap { $0["spec"]["template"]["spec"]["containers"].items }
        let named = containers.flatMap { $0["env"].items }.compactMap { $0["name"].text }
        return Set((composed + named).filter { $0.hasPrefix("ERRAND_") })
    }

    /// The variables of Errand that the sources read.
    private func variablesOfTheSources() throws -> Set<String> {
        let files = try FileManager.default.subpathsOfDirectory(atPath: DeploymentFiles.path("Sources"))
        let texts = try files.filter { $0.hasSuffix(".swift") }.map { try DeploymentFiles.text("Sources/\($0)") }
        return Set(
            texts.flatMap { text in
                text.matches(of: /environment\["(ERRAND_[A-Z_]+)"\]/).map { String($0.output.1) }
            }
        )
    }

    @Test(arguments: ["docker-compose.yml", "deploy/kubernetes/errand.yaml", "deploy/systemd/environment"])
    func setsOnlyVariablesThatAreRead(_ path: String) throws {
        let variables = try variables(of: path)
        #expect(variables.contains("ERRAND_REDIS_URL"))
        #expect(variables.subtracting(try variablesOfTheSources()) == [])
    }

    private func services() throws -> [String: YAMLValue] {
        try #require(try DeploymentFiles.documents("docker-compose.yml").first)["services"].members
    }

    @Test func oneCommandBringsTheWholeClusterUp() throws {
        let services = try services()
        #expect(Set(services.keys) == ["redis", "worker", "producer", "dashboard"])
        #expect(services["worker"]?["deploy"]["replicas"].number == 3)
        for (name, service) in services {
            #expect(!service["profiles"].isThere, "\(name) is left out")
            // The built image has no name in a registry.
            #expect(service["build"].isThere != service["image"].isThere, "\(name)")
        }
    }

    /// The command of the producer's container, with this tree's catalogue.
    private func producerScript() throws -> String {
        let script = try #require(try services()["producer"]?["command"].words.first)
        // Compose replaces two dollars by one.
        try #require(script.contains("sleep 4"))
        return script.replacing("$$", with: "$")
            .replacing("/etc/errand/catalogue.yaml", with: DeploymentFiles.path("deploy/catalogue.yaml"))
            .replacing("sleep 4", with: "sleep 600")
    }

    private func finished(_ server: RedisServer) async throws -> Int64 {
        let status = try await Executable.console.run(["status", "--json"], on: server).object
        return status["queues"]?.items.first?["totals"]?["finished"]?.integer ?? 0
    }

    @Test func theProducersJobsRunAndItEndsWhenAskedTo() async throws {
        let server = try RedisServer()
        let worker = try RunningExecutable(
            .worker,
            ["--catalogue", DeploymentFiles.path("deploy/catalogue.yaml")],
            environment: ["ERRAND_REDIS_URL": server.url]
        )
        let folder = try Executable.producer.url.deletingLastPathComponent().path
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let environment = ["ERRAND_REDIS_URL": server.url, "PATH": "\(folder):\(path)"]
        let producer = try Program("/bin/sh", ["-c", try producerScript()], environment: environment)
        try await eventually("a job has finished: \(producer.lines)") { try await finished(server) > 0 }
        producer.signal(SIGTERM)
        // Between two jobs it sleeps for longer than this waits.
        try await eventually("the producer has ended") { !producer.isRunning }
        #expect(producer.status == 0)
        worker.signal(SIGTERM)
        #expect(await worker.end().status == 0)
    }
}
