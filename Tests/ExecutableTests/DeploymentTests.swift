import Foundation
import TestSupport
import Testing

/// The files of `deploy`, and `docker-compose.yml`.
@Suite struct DeploymentTests {
    private func text(_ path: String) throws -> String { try DeploymentFiles.text(path) }

    @Test(arguments: [
        "docker-compose.yml", "deploy/catalogue.yaml", "deploy/kubernetes/errand.yaml", "deploy/kubernetes/keda.yaml",
        "deploy/prometheus/alerts.yaml", "deploy/prometheus/alerts_test.yaml",
    ])
    func isYAML(_ path: String) throws {
        let documents = try DeploymentFiles.documents(path)
        #expect(!documents.isEmpty)
        #expect(documents.allSatisfy { $0.object != nil })
    }

    @Test(.enabled(if: DeploymentFiles.isInstalled("docker-compose"))) func dockerComposeTakesItsFile() throws {
        let path = DeploymentFiles.path("docker-compose.yml")
        let config = try DeploymentFiles.run(["docker-compose", "--file", path, "config", "--quiet"])
        #expect(config.status == 0, "\(config.text)")
    }

    @Test(
        .enabled(if: DeploymentFiles.isInstalled("systemd-analyze")),
        arguments: ["errand-dashboard.service", "errand-worker@.service"]
    )
    func systemdTakesTheUnits(_ name: String) throws {
        let unit = try text("deploy/systemd/\(name)")
        // The directory of this build's executables, because systemd checks that they exist.
        let built = try Executable.worker.url.deletingLastPathComponent().path
        let directory = FileManager.default.temporaryDirectory.appending(path: "errand-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let copy = directory.appending(path: name)
        try unit.replacing("/usr/local/bin", with: built).write(to: copy, atomically: true, encoding: .utf8)
        // It only warns of unknown settings.
        let verdict = try DeploymentFiles.run(["systemd-analyze", "verify", copy.path])
        #expect(verdict.status == 0 && verdict.text.isEmpty, "\(verdict.text)")
    }

    @Test func theImageIsBuiltWithEveryFolderThatTheManifestNames() throws {
        let manifest = try text("Package.swift")
        let folders = Set(manifest.matches(of: /path: "([A-Za-z]+)\//).map { String($0.output.1) } + ["Sources"])
        let image = try text("deploy/Dockerfile")
        for folder in folders { #expect(image.contains("COPY \(folder) ./\(folder)\n"), "\(folder) is missing") }
    }

    @Test func kedaAsksInTheDashboardsNamespace() throws {
        // It runs in its own namespace, where the short name of a service is unknown.
        let host = try #require(try text("deploy/kubernetes/keda.yaml").firstMatch(of: /url: "http:\/\/([^\/]+)\//)).1
        #expect(host.hasPrefix("errand-dashboard.") && host.hasSuffix(".svc.cluster.local"))
    }

    @Test func readOnlyPartsHaveNoPasswordThatMayAct() throws {
        let (keda, errand) = (try text("deploy/kubernetes/keda.yaml"), try text("deploy/kubernetes/errand.yaml"))
        let keys = keda.matches(of: /key: ([a-z-]+)\}/).map { String($0.output.1) }
        #expect(keys == ["dashboard-reader", "dashboard-reader-password"])
        // Both files use the same password, and the dashboard's name for it.
        let lines = errand.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        let variable = try #require(lines.firstIndex(of: "- name: ERRAND_DASHBOARD_READER_PASSWORD"))
        #expect(lines[variable + 1] == "valueFrom: {secretKeyRef: {name: errand, key: dashboard-reader-password}}")
        #expect(errand.contains("--from-literal=dashboard-reader=reader "))
    }

    @Test func workersAreGivenTheTimeThatTheyTake() throws {
        // A worker lets jobs end for 25 s in all; killing it sooner would turn these ends into crashes.
        let compose = try text("docker-compose.yml")
        #expect(compose.contains("stop_grace_period: 30s"))
        #expect(try text("deploy/kubernetes/errand.yaml").contains("terminationGracePeriodSeconds: 30"))
        #expect(try text("deploy/systemd/errand-worker@.service").contains("TimeoutStopSec=30"))
    }

    /// Redis with the shipped configuration and users, in a directory of the test.
    private func shippedRedis(_ folder: URL, password: String = "") throws -> RedisServer {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let users = folder.appending(path: "errand.acl")
        let rule = password.isEmpty ? "" : " >\(password)"
        try text("deploy/redis/errand.acl").replacing(" resetpass ", with: " resetpass\(rule) ")
            .write(to: users, atomically: true, encoding: .utf8)
        // Except its address, which is also the test's.
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
        // The server checks the rest of the configuration.
        let doctor = try await Executable.console.run(["doctor", "--json"], environment: environment)
        #expect(doctor.status == 0, "\(doctor.error)")
        #expect(try doctor.object["advice"] == .list([]), "\(doctor.text)")
        let push = try await Executable.producer.run(["push", "work"], environment: environment)
        #expect(push.status == 0, "\(push.error)")
    }

    @Test func theServerIsClosedUntilThereIsAPassword() throws {
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
