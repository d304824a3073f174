import Foundation
import TestSupport
import Testing

/// Web calls of a real worker.
@Suite(.timeLimit(.minutes(6)))
struct WorkerWebCallTests {
    private let redis: RedisServer
    private let catalogue: String

    init() throws {
        redis = try RedisServer()
        catalogue = NSTemporaryDirectory() + "web-calls-\(UUID().uuidString).yaml"
    }

    private var environment: [String: String] { ["ERRAND_REDIS_URL": redis.url] }

    private func worker(
        _ url: String,
        timeout: String = "30s",
        headers: String = "{}",
        environment more: [String: String] = [:]
    ) throws -> RunningExecutable {
        try """
        operations:
          call:
            http: {url: "\(url)", headers: \(headers)}
            timeout: \(timeout)
            retries: 2
        """.write(toFile: catalogue, atomically: true, encoding: .utf8)
        return try RunningExecutable(
            .worker,
            ["--catalogue", catalogue],
            environment: environment.merging(more) { $1 }
        )
    }

    /// Lets the worker make this many concurrent calls, and returns the results of the jobs.
    private func push(_ count: Int, _ arguments: String = "{}", retries: Int) async throws -> [Output] {
        try await withThrowingTaskGroup(of: Output.self) { group in
            for _ in 0..<count {
                group.addTask {
                    try await Executable.producer.run(
                        ["push", "call", arguments, "--retries", "\(retries)", "--wait=60s", "--json"],
                        environment: environment
                    )
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
    }

    @Test func `a call names the worker and its version, and goes to the address with its arguments`() async throws {
        defer { try? FileManager.default.removeItem(atPath: catalogue) }
        let server = try WebServer { _ in WebServer.answer(200, [:], "done") }
        let worker = try worker(server.url + "/{id}")
        let output = try #require(try await push(1, #"{"id":"a/b"}"#, retries: 0).first)
        worker.signal(SIGTERM)
        _ = await worker.end()
        #expect(output.status == 0, "\(output.error)")
        let version = try #require(try await Executable.worker.run(["--version"]).lines.first)
        #expect(server.requests.first?.headers["user-agent"] == "errand-worker/\(version)")
        #expect(server.requests.first?.line == "POST /a%2Fb HTTP/1.1")
    }

    @Test func `the proxy of the environment is used`() async throws {
        defer { try? FileManager.default.removeItem(atPath: catalogue) }
        let proxy = try WebServer { _ in WebServer.answer(200, [:], "done") }
        let worker = try worker("http://example.invalid/x", environment: ["http_proxy": proxy.url, "no_proxy": ""])
        let output = try #require(try await push(1, retries: 0).first)
        worker.signal(SIGTERM)
        _ = await worker.end()
        #expect(output.status == 0, "\(output.error)")
        #expect(proxy.requests.first?.line == "POST http://example.invalid/x HTTP/1.1")
    }

    /// The work was done with the first call.
    @Test func `a response that is not HTTP makes a job dead without another call`() async throws {
        defer { try? FileManager.default.removeItem(atPath: catalogue) }
        let server = try WebServer { _ in "+OK\r\n" }
        let worker = try worker(server.url)
        let output = try #require(try await push(1, retries: 2).first)
        worker.signal(SIGTERM)
        _ = await worker.end()
        #expect(output.status == 1)
        #expect(output.error.contains("the other side does not speak HTTP"), "\(output.error)")
        #expect(server.requests.count == 1)
    }

    @Test func `a header that frames requests is rejected at the start`() async throws {
        defer { try? FileManager.default.removeItem(atPath: catalogue) }
        let worker = try worker("http://127.0.0.1/", headers: #"{content-length: "1"}"#)
        #expect(await worker.end().status == 78)
    }

    /// Endless responses: bodies, compressed or not, with and without a length, and heads.
    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 262000000\r\n\r\n", "HTTP/1.1 500 Error\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n", "HTTP/1.1 200 OK\r\nX: ",
    ]) func `a worker stays small whatever a server sends`(head: String) async throws {
        defer { try? FileManager.default.removeItem(atPath: catalogue) }
        let server = try WebServer { connection in
            _ = connection.readRequest()
            connection.send(head)
            for _ in 0..<4000 where !connection.send([UInt8](repeating: UInt8(ascii: "x"), count: 65_536)) { return }
        }
        let worker = try worker(server.url, timeout: "5s")
        _ = try await push(8, retries: 0)
        let peak = try #require(try peakMemory(of: worker.pid))
        worker.signal(SIGTERM)
        _ = await worker.end()
        #expect(server.connections == 8)
        #expect(peak < 150_000, "\(peak) kB")
    }

    /// In kB, if the system reports it.
    private func peakMemory(of pid: Int32) throws -> Int? {
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line.flatMap { Int($0.filter(\.isNumber)) }
    }
}
