import Errand
import ErrandCommandLine
import ErrandRedis
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

/// The broker's password appears in no output, log, error, child, title or client list.
@Suite struct SecretsTests {
    private static let secret = RedisServer.password

    private func check(_ text: String, _ what: String) {
        #expect(!text.contains(Self.secret), "\(what) shows the password")
    }

    @Test func `no executable and no child shows the password`() async throws {
        let server = try RedisServer(tcp: true)
        let home = NSTemporaryDirectory() + "secrets-\(server.port)"
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: home) }
        let catalogue = home + "/catalogue.yaml"
        // The child prints everything that it can see of itself, and the title of its parent.
        try """
        operations:
          tell:
            run: [sh, -c, "cat /proc/self/environ /proc/self/cmdline /proc/$PPID/cmdline /proc/$PPID/status; env; echo told"]
        """.write(toFile: catalogue, atomically: true, encoding: .utf8)
        for environment in [["ERRAND_REDIS_URL": server.tcpURL], ["REDIS_URL": server.tcpURL], [:]] {
            let broker = environment.isEmpty ? ["--redis", server.tcpURL] : []
            let worker = try RunningExecutable(
                .worker,
                ["--catalogue", catalogue, "--json"] + broker,
                environment: environment
            )
            let pushed = try await Executable.producer.run(
                ["push", "tell", "--wait", "--json"] + broker,
                environment: environment
            )
            #expect(pushed.status == 0, "\(pushed.error)")
            #expect(pushed.text.contains("told"), "\(pushed.text)")
            let title = try Data(contentsOf: URL(fileURLWithPath: "/proc/\(worker.pid)/cmdline"))
            check(String(decoding: title, as: UTF8.self), "the worker's title")
            check(try server.run("CLIENT", "LIST"), "the client list")
            for words in [
                ["status"], ["doctor"], ["jobs"], ["job", "show", "nothing"], ["queue", "pause", "default"],
            ] {
                let output = try await Executable.console.run(words + broker, environment: environment)
                check(output.text + output.error, "errand \(words)")
            }
            _ = try await Executable.console.run(["queue", "resume", "default"] + broker, environment: environment)
            worker.signal(SIGTERM)
            let ended = await worker.end()
            check(ended.text + ended.error, "the worker")
            check(pushed.text + pushed.error, "the producer")
        }
    }

    @Test func `errors do not show the password of a bad URL or a refused login`() async throws {
        let server = try RedisServer(tcp: true)
        let secret = Self.secret
        let urls = [
            "redis://errand:\(secret)@127.0.0.1:1", "redis://nobody:\(secret)@127.0.0.1:\(server.port)",
            "rediss://errand:\(secret)@localhost", "redis://errand:\(secret)@localhost/x", "redis://:\(secret)/@",
            "http://errand:\(secret)@localhost", "redis://errand:\(secret)@host:99999", "redis://errand:\(secret)@",
            "unix://errand:\(secret)@relative", "errand:\(secret)@host", "redis://errand:\(secret)@[::1",
        ]
        for url in urls {
            for executable in [Executable.producer, .console] {
                let words = executable == .producer ? ["push", "x"] : ["status"]
                let output = try await executable.run(words, environment: ["ERRAND_REDIS_URL": url])
                #expect(output.status != 0, "\(url)")
                check(output.text + output.error, "\(words) with \(url)")
            }
        }
    }

    @Test(arguments: [
        (Executable.console, ["status", "URL"]), (.console, ["jobs", "--state", "URL"]),
        (.console, ["queue", "pause", "URL"]),
        (.console, ["status", "--embedded=x", "--redis", "URL"]),
        (.console, ["import", "--from", "sidekiq", "--source", "URL/x"]),
        (.producer, ["push", "URL"]), (.producer, ["push", "x", "{}", "URL"]), (.worker, ["--catalogue", "URL"]),
        (.worker, ["--catalogue", "x", "--lease", "URL"]), (.worker, ["URL"]), (.dashboard, ["URL"]),
    ])
    func `a URL in the wrong place shows no password`(executable: Executable, words: [String]) async throws {
        for url in ["redis://errand:\(Self.secret)@h", "unix://:\(Self.secret)@/s", "redis://\(Self.secret)@h"] {
            let output = try await executable.run(words.map { $0.replacing("URL", with: url) })
            #expect(output.status != 0)
            check(output.text + output.error, "\(executable) \(words)")
        }
    }

    @Test(arguments: [
        ("redis://u:hush@h/1", "redis://u:******@h/1"), ("a \"unix://:hush@/s\" b", "a \"unix://:******@/s\" b"),
        ("redis://hush@h", "redis://******@h"),
        ("redis://u:hu/sh@h, redis://:hush@h", "redis://u:******@h, redis://:******@h"),
        ("redis://h:1/2 and http://h:80/a@b", "redis://h:1/2 and http://h:80/a@b"), ("unix:///a:b@c", "unix:///a:b@c"),
        ("://", "://"),
    ])
    func `passwords in a text are hidden, and nothing else`(text: String, shown: String) {
        #expect(text.withoutURLPasswords == shown)
    }

    @Test func `the library logs no password at the level trace`() async throws {
        let server = try RedisServer(tcp: true)
        let log = Gathered()
        var logger = Logger(label: "secrets") { _ in log }
        logger.logLevel = .trace
        let address = try RedisAddress(url: server.tcpURL)
        var dumped = "\(address) \(String(reflecting: address)) \(Optional(address) as Any)"
        dump(address, to: &dumped)
        check(dumped, "the address")
        let broker = RedisBroker(address, options: ConnectionOptions(patience: .milliseconds(500)), logger: logger)
        defer { broker.close() }
        let watch = broker.events(of: nil)
        _ = try await broker.push([try OperationDescription("work").makeEnvelope()], to: "default")
        try server.run("ACL", "SETUSER", "errand", "resetpass", ">another")
        try server.run("CLIENT", "KILL", "USER", "errand")
        let refused = await #expect(throws: BrokerError.self) { try await broker.ping() }
        check("\(refused.map { "\($0)" } ?? "")", "the error")
        server.kill(SIGKILL)
        let away = await #expect(throws: BrokerError.self) { try await broker.ping() }
        check("\(away.map { "\($0)" } ?? "")", "the error")
        #expect(!log.text.isEmpty)
        check(log.text, "the log")
        _ = watch
    }
}

/// Passwords in the environment are not passed to children.
@Suite struct SecretsOfTheEnvironmentTests {
    private static let secret = "hush-of-the-tests"

    /// The environment of a program that an executable starts, without the passwords.
    private func check(_ environment: String, _ what: String) {
        #expect(environment.contains("HANDED_ON=yes"), "\(what) has no environment to look at")
        #expect(!environment.contains(Self.secret), "\(what) has the password")
    }

    /// The environments of the guardians of embedded servers below a process. The server itself writes its title over its own.
    private static func guardians(of pid: Int32) -> [String] {
        ProcessTree.descendants(of: pid).compactMap { child in
            let files = ["cmdline", "environ"].map { FileManager.default.contents(atPath: "/proc/\(child)/\($0)") }
            let texts = files.map { String(decoding: $0 ?? Data(), as: UTF8.self) }
            return texts[0].contains("errand-guardian") ? texts[1] : nil
        }
    }

    @Test(.timeLimit(.minutes(3)))
    func `neither jobs nor an editor nor the embedded server get the dashboard's passwords`() async throws {
        // Short, as a socket goes there.
        let home = "/tmp/errand-secrets-\(UInt32.random(in: 0 ... .max))"
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: home) }
        try "operations: {tell: {run: [sh, -c, env]}, fail: {run: [sh, -c, exit 1], retries: 0}}"
            .write(toFile: home + "/catalogue.yaml", atomically: true, encoding: .utf8)
        let environment = [
            "ERRAND_HOME": home, "HANDED_ON": "yes", "ERRAND_DASHBOARD_PASSWORD": Self.secret,
            "ERRAND_DASHBOARD_READER_PASSWORD": Self.secret, "EDITOR": "sh -c 'env >\(home)/seen; exit 1' sh",
        ]
        let words = ["--catalogue", home + "/catalogue.yaml", "--json"]
        let worker = try RunningExecutable(.worker, words, environment: environment)
        try await eventually("its server has a guardian") { !Self.guardians(of: worker.pid).isEmpty }
        for guardian in Self.guardians(of: worker.pid) { check(guardian, "the guardian") }

        let output = try await Executable.producer.run(["push", "tell", "--wait", "--json"], environment: environment)
        check(output.text, "the job")
        _ = try await Executable.producer.run(["push", "fail", "--wait", "--json"], environment: environment)
        let dead = try await Executable.console.run(["jobs", "--state", "dead", "--json"], environment: environment)
        let id = try #require(try dead.objects.first?["id"]?.string, "\(dead.error)")
        _ = try await Executable.console.run(["job", "edit", id], environment: environment)
        check(try String(contentsOfFile: home + "/seen", encoding: .utf8), "the editor")

        let all = ProcessTree.descendants(of: worker.pid)
        worker.signal(SIGTERM)
        _ = await worker.end()
        try await eventually("its server has ended") { !all.contains(where: ProcessTree.isAlive) }
    }
}

/// The same for a benchmark, which runs separately.
@Suite struct SecretsBenchTests {
    /// Its workers check their lines in `ps`; redis-benchmark would need the password as an argument.
    @Test(.timeLimit(.minutes(6)))
    func `a benchmark measures a server with a password without showing it`() async throws {
        let server = try RedisServer(tcp: true)
        let bench = try RunningExecutable(
            .console,
            ["bench", "--jobs", "1000", "--runs", "1", "--only", "drain", "--json", "--redis", server.tcpURL]
        )
        var titles: Set<String> = []
        try await eventually("its worker is there") {
            titles.formUnion(Self.titles(ofChildrenOf: bench.pid))
            return titles.contains { $0.contains("bench-worker") }
        }
        let output = await bench.end()
        #expect(output.status == 0, "\(output.error)")
        #expect(output.error.contains("broker: redis://127.0.0.1") && output.error.contains("not measured"))
        #expect(output.text.contains(#""claim_finish_batch":null"#), "\(output.text)")
        #expect(!(output.text + output.error + titles.joined()).contains(RedisServer.password))
    }

    private static func titles(ofChildrenOf pid: Int32) -> [String] {
        // Each thread has its own children.
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")) ?? []
        let children = threads.compactMap {
            try? String(contentsOfFile: "/proc/\(pid)/task/\($0)/children", encoding: .utf8)
        }
        return children.joined(separator: " ").split(separator: " ").compactMap {
            try? String(contentsOfFile: "/proc/\($0)/cmdline", encoding: .utf8)
        }
    }
}

/// A log handler that keeps everything.
private final class Gathered: LogHandler, Sendable {
    private let lines = Mutex("")
    var text: String { lines.withLock(\.self) }
    var logLevel: Logger.Level {
        get { .trace }
        set {}
    }
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) {
        lines.withLock { $0 += "\(event.level) \(event.message) \(event.metadata ?? [:])\n" }
    }
}
