import Errand
import ErrandRedis
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `Examples/PhotoService` as processes: the server, two workers, uploads over HTTP.
@Suite struct PhotoServiceTests {
    private let server: RedisServer
    private let directory: URL
    private let broker: RedisBroker

    init() throws {
        server = try RedisServer()
        directory = URL(filePath: server.directory).appending(path: "photos")
        broker = try RedisBroker(url: server.url)
    }

    private var environment: [String: String] {
        ["ERRAND_REDIS_URL": server.url, "ERRAND_LEASE_SECONDS": "2", "PHOTOS_DIRECTORY": directory.path, "PORT": "0"]
    }

    private var tools: URL { URL(filePath: server.directory).appending(path: "tools") }
    /// The second version of a photo is made once this file exists.
    private var gate: URL { tools.appending(path: "gate") }

    private func worker() throws -> Program {
        // The tool is real, but makes no second version until it is released, so that its worker can be killed while
        // it runs.
        try FileManager.default.createDirectory(at: tools, withIntermediateDirectories: true)
        let gm = tools.appending(path: "gm")
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        let script = """
            #!/bin/sh
            PATH='\(path)'
            case "$*" in *800x800*)
                while [ -d '\(tools.path)' ] && ! [ -e '\(gate.path)' ]; do sleep 0.05; done ;;
            esac
            exec gm "$@"
            """
        try Data(script.utf8).write(to: gm)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: gm.path)
        let environment = environment.merging(["PATH": tools.path + ":" + path]) { $1 }
        return try Program("errand-example-photo-worker", [], environment: environment)
    }

    /// The service, and the address at which it serves.
    private func service() async throws -> (Program, String) {
        let service = try Program("errand-example-photo-server", [], environment: environment)
        func port() -> Substring? {
            service.lines.compactMap { $0.firstMatch(of: /serving.*port=(\d+)|port=(\d+).*serving/) }
                .compactMap { $0.1 ?? $0.2 }.first
        }
        try await eventually("it serves: \(service.lines)") { port() != nil }
        return (service, "http://127.0.0.1:\(try #require(port()))")
    }

    private func photo() async throws -> Data {
        let file = server.directory + "/large.jpg"
        let tool = try Program("/usr/bin/env", ["gm", "convert", "-size", "4000x3000", "gradient:red-blue", file])
        #expect(try await tool.end() == 0, "\(tool.lines)")
        return try Data(contentsOf: URL(filePath: file))
    }

    private func upload(_ data: Data, to address: String) async throws -> (status: Int, answer: [String: String]) {
        var request = URLRequest(url: try #require(URL(string: address + "/photos")))
        request.httpMethod = "POST"
        request.httpBody = data
        let (body, response) = try await URLSession.shared.data(for: request)
        let status = try #require(response as? HTTPURLResponse).statusCode
        return (status, (try? JSONDecoder().decode([String: String].self, from: body)) ?? [:])
    }

    /// The updates that the page gets about a job until its end.
    private func follow(_ job: String, at address: String) throws -> Program {
        try Program("/usr/bin/env", ["curl", "-sN", address + "/jobs/\(job)/events"])
    }

    @Test func `a job continues on another worker when its own is killed, and the page shows it`() async throws {
        defer { broker.close() }
        let (service, address) = try await service()
        let workers = [try worker(), try worker()]
        let upload = try await photo()
        let (status, answer) = try await self.upload(upload, to: address)
        #expect(status == 202)
        let (photo, job) = (try #require(answer["photo"]), try #require(answer["job"]))
        let page = try follow(job, at: address)
        // The same photo again adds no second job.
        #expect(try await self.upload(upload, to: address).answer["job"] == job)

        // The first version is made; the worker of the second one is killed.
        try await eventually("it has begun: \(page.lines)", within: .seconds(60)) {
            page.lines.contains { $0.contains("making 800 pixels") }
        }
        let first = try #require(try await broker.inspect([job], on: "photos").first??.session)
        let sessions = try await broker.status(of: "photos").sessions
        let pid = try #require(sessions.first { $0.id == first }?.pid)
        let killed = try #require(workers.first { Int($0.pid) == pid })
        killed.signal(SIGKILL)
        try Data().write(to: gate)

        try await eventually("the page gets the end: \(page.lines)", within: .seconds(60)) {
            page.lines.contains { $0.contains(#""state":"finished""#) }
        }
        #expect(try await page.end() == 0)
        #expect(page.lines.contains { $0.contains(#""event":"recovered""#) })
        let last = try #require(page.lines.last { $0.contains(#""state":"finished""#) })
        #expect(!last.contains(first), "it was to end at the other worker: \(last)")
        // Finished steps are not repeated, and every version exists.
        #expect(page.lines.count { $0.contains("making 1600 pixels") } <= 2)
        for size in ["1600", "800", "320"] {
            let version = try #require(URL(string: "\(address)/photos/\(photo)/\(size)"))
            let (image, _) = try await URLSession.shared.data(from: version)
            #expect(image.starts(with: [0xFF, 0xD8, 0xFF]), "\(size)")
        }
        #expect(try await broker.inspect([job], on: "photos").first??.result == Array("[1600,800,320]".utf8))
        #expect(try await broker.audit("photos", repair: false) == [])
        for program in workers + [service] where program.isRunning {
            program.signal(SIGTERM)
            #expect(try await program.end() == 0)
        }
    }

    @Test func `a file that is not a photo is rejected or fails with a reason`() async throws {
        defer { broker.close() }
        let (service, address) = try await service()
        let worker = try worker()
        #expect(try await upload(Data("not a photo".utf8), to: address).status == 415)
        // It begins like a photo, but is not one.
        let (status, answer) = try await upload(Data([0xFF, 0xD8, 0xFF] + Array("broken".utf8)), to: address)
        #expect(status == 202)
        let page = try follow(try #require(answer["job"]), at: address)
        #expect(try await page.end() == 0)
        #expect(
            page.lines.contains { $0.contains(#""state":"dead""#) && $0.contains("cannot be read") },
            "\(page.lines)"
        )
        for path in ["/photos/../../etc/passwd/800", "/photos/00000000000000000000000000000000/800", "/photos/x/1"] {
            let url = try #require(URL(string: address + path))
            let (_, response) = try await URLSession.shared.data(from: url)
            #expect((response as? HTTPURLResponse)?.statusCode == 404, "\(path)")
        }
        let url = try #require(URL(string: address + "/errand"))
        let (dashboard, _) = try await URLSession.shared.data(from: url)
        #expect(String(decoding: dashboard, as: UTF8.self).contains("Photos"))
        for program in [worker, service] {
            program.signal(SIGTERM)
            #expect(try await program.end() == 0)
        }
    }
}
