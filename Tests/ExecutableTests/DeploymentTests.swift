import Errand
import ErrandCommandLine
import ErrandOperator
import Foundation
import Metrics
import TestSupport
import Testing
import Yams

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The files of `deploy`, and `docker-compose.yml`.
@Suite struct DeploymentTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    }

    /// Every metric that the dashboard tells.
    private var metrics: Set<String> {
        let lines = MetricsText.text(of: Overview()).split(separator: "\n")
        return Set(
            lines.filter { $0.hasPrefix("# TYPE ") }.compactMap {
                $0.split(separator: " ").dropFirst(2).first.map(String.init)
            }
        )
    }

    private func metrics(in text: String) -> Set<String> {
        Set(text.matches(of: /errand_[a-z_]+/).map { String($0.output) })
    }

    @Test(arguments: ["deploy/prometheus/alerts.yaml", "deploy/grafana/errand.json"])
    func namesOnlyMetricsThatExist(_ path: String) throws {
        let used = metrics(in: try text(path))
        #expect(!used.isEmpty)
        #expect(used.subtracting(metrics) == [])
    }

    @Test func namesOnlyEventsAndStatesThatExist() throws {
        for path in ["deploy/prometheus/alerts.yaml", "deploy/grafana/errand.json"] {
            let text = try text(path).replacing("\\\"", with: "\"")
            for match in text.matches(of: /event=~?"([a-z_|]+)"/) {
                for event in match.1.split(separator: "|") { #expect(QueueStatus.Totals.names.contains(String(event))) }
            }
            for match in text.matches(of: /state=~?"([a-z_|]+)"/) {
                for state in match.1.split(separator: "|") { #expect(JobState(rawValue: String(state)) != nil) }
            }
        }
    }

    @Test(arguments: [
        "docker-compose.yml", "deploy/catalogue.yaml", "deploy/kubernetes/errand.yaml", "deploy/kubernetes/keda.yaml",
        "deploy/prometheus/alerts.yaml",
    ])
    func isYAML(_ path: String) throws {
        let documents = Array(try Yams.load_all(yaml: try text(path)))
        #expect(!documents.isEmpty)
        #expect(documents.allSatisfy { $0 is [String: Any] })
    }

    /// What a tool says of something, and how it ends.
    private func run(_ words: [String], input: String = "") throws -> (status: Int32, text: String) {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = words
        let (given, said) = (Pipe.forOneChild(), Pipe.forOneChild())
        (process.standardInput, process.standardOutput, process.standardError) = (given, said, said)
        try process.start()
        try said.fileHandleForWriting.close()
        try given.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try given.fileHandleForWriting.close()
        let text = String(decoding: said.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text)
    }

    private static func isInstalled(_ tool: String) -> Bool { access("/usr/bin/\(tool)", X_OK) == 0 }

    /// What a worker would write to its file.
    private static var workerMetrics: String {
        let registry = MetricsRegistry(labels: [("worker", "a \"b\"\\")])
        Metrics.Counter(label: "errand.jobs", dimensions: [("name", "n"), ("queue", "q")], factory: registry).increment(
            by: 3
        )
        Metrics.Timer(label: "errand.jobs.duration", dimensions: [("name", "n")], factory: registry).recordSeconds(2)
        Meter(label: "errand.jobs.processing", dimensions: [("name", "n")], factory: registry).set(1)
        Gauge(label: "1 odd.level", dimensions: [("a-b", "c\nd")], factory: registry).record(0.5)
        Recorder(label: "errand.sizes", dimensions: [], aggregate: true, factory: registry).record(70)
        return registry.text
    }

    @Test(.enabled(if: isInstalled("promtool"))) func promtoolTakesTheAlertsAndTheMetrics() async throws {
        let path = Self.root.appending(path: "deploy/prometheus/alerts.yaml").path
        let rules = try run(["promtool", "check", "rules", path])
        #expect(rules.status == 0, "\(rules.text)")
        let scene = try await DashboardScene()
        try await scene.push(#"{"operation":"work","queue":"images"}"#)
        let metrics = try run(["promtool", "check", "metrics"], input: try await scene.ask("/metrics").text)
        #expect(metrics.status == 0 && metrics.text.isEmpty, "\(metrics.text)")
        let own = try run(["promtool", "check", "metrics"], input: Self.workerMetrics)
        #expect(own.status == 0 && own.text.isEmpty, "\(own.text)")
    }

    @Test(.enabled(if: isInstalled("docker-compose"))) func dockerComposeTakesItsFile() throws {
        let path = Self.root.appending(path: "docker-compose.yml").path
        let config = try run(["docker-compose", "--file", path, "config", "--quiet"])
        #expect(config.status == 0, "\(config.text)")
    }

    @Test(
        .enabled(if: isInstalled("systemd-analyze")),
        arguments: ["errand-dashboard.service", "errand-worker@.service"]
    )
    func systemdTakesTheUnits(_ name: String) throws {
        let unit = try text("deploy/systemd/\(name)")
        // Where this build has the executables; systemd looks whether they are there.
        let built = try Executable.worker.url.deletingLastPathComponent().path
        let directory = FileManager.default.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let copy = directory.appending(path: name)
        try unit.replacing("/usr/local/bin", with: built).write(to: copy, atomically: true, encoding: .utf8)
        // What it does not understand it only warns of.
        let verdict = try run(["systemd-analyze", "verify", copy.path])
        #expect(verdict.status == 0 && verdict.text.isEmpty, "\(verdict.text)")
    }

    @Test func theImageIsBuiltWithEveryFolderThatTheManifestNames() throws {
        let manifest = try text("Package.swift")
        let folders = Set(manifest.matches(of: /path: "([A-Za-z]+)\//).map { String($0.output.1) } + ["Sources"])
        let image = try text("deploy/Dockerfile")
        for folder in folders { #expect(image.contains("COPY \(folder) ./\(folder)\n"), "\(folder) is missing") }
    }

    @Test func theGraphsAreJSON() throws {
        let board = try JSON(text: try text("deploy/grafana/errand.json")).object
        #expect(board["title"] == "Errand")
    }

    @Test func kedaAsksInTheDashboardsNamespace() throws {
        // It runs in one of its own, where the short name of a service means nothing.
        let host = try #require(try text("deploy/kubernetes/keda.yaml").firstMatch(of: /url: "http:\/\/([^\/]+)\//)).1
        #expect(host.hasPrefix("errand-dashboard.") && host.hasSuffix(".svc.cluster.local"))
    }

    @Test func workersAreGivenTheTimeThatTheyTake() throws {
        // A worker lets jobs end for 25 s in all; whoever kills it sooner makes crashes of what were ends.
        let compose = try text("docker-compose.yml")
        #expect(compose.contains("stop_grace_period: 30s"))
        #expect(try text("deploy/kubernetes/errand.yaml").contains("terminationGracePeriodSeconds: 30"))
        #expect(try text("deploy/systemd/errand-worker@.service").contains("TimeoutStopSec=30"))
    }

    /// Redis with the configuration and the users that are shipped, in a folder of the test's own.
    private func shippedRedis(_ folder: URL, password: String = "") throws -> RedisServer {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let users = folder.appending(path: "errand.acl")
        let rule = password.isEmpty ? "" : " >\(password)"
        try text("deploy/redis/errand.acl").replacing(" resetpass ", with: " resetpass\(rule) ")
            .write(to: users, atomically: true, encoding: .utf8)
        // All but where it listens, which is the test's own as well.
        let lines = try text("deploy/redis/redis.conf").split(separator: "\n").filter {
            !$0.hasPrefix("port ") && !$0.hasPrefix("bind ")
        }
        let configuration = folder.appending(path: "errand.conf")
        try lines.joined(separator: "\n").replacing("/etc/redis/errand.acl", with: users.path)
            .write(to: configuration, atomically: true, encoding: .utf8)
        return try RedisServer(restricted: false, ["--include", configuration.path])
    }

    @Test func redisStartsWithTheConfiguration() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try shippedRedis(folder, password: "long")
        #expect(try server.run("PING").hasPrefix("NOAUTH"))
        #expect(try await Executable.console.run(["status"], on: server).status == 77)
        let environment = ["ERRAND_REDIS_URL": "unix://errand:long@\(server.socket)"]
        #expect(try text("deploy/redis/redis.conf").contains("\nmaxmemory-policy noeviction\n"))
        // It looks at the rest of the configuration itself.
        let doctor = try await Executable.console.run(["doctor", "--json"], environment: environment)
        #expect(doctor.status == 0, "\(doctor.error)")
        #expect(try doctor.object["advice"] == .list([]), "\(doctor.text)")
        let push = try await Executable.producer.run(["push", "work"], environment: environment)
        #expect(push.status == 0, "\(push.error)")
    }

    @Test func nobodyComesInBeforeThereIsAPassword() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try shippedRedis(folder)
        #expect(try server.run("PING").hasPrefix("NOAUTH"))
        for user in ["default", "errand"] {
            #expect(try server.run("AUTH", user, "").hasPrefix("WRONGPASS"), "\(user)")
        }
    }

    @Test func everyAddressThatIsShippedButTheComposeFilesNamesTheUser() throws {
        for path in ["deploy/kubernetes/errand.yaml", "deploy/systemd/environment"] {
            let addresses = try text(path).matches(of: /redis:\/\/[^ \n]+/).map { String($0.output) }
            #expect(!addresses.isEmpty)
            #expect(addresses.allSatisfy { $0.hasPrefix("redis://errand:PASSWORD@") }, "\(path): \(addresses)")
        }
        #expect(try !text("docker-compose.yml").contains(":6379\""))
    }
}
