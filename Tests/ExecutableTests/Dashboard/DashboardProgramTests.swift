import Foundation
import TestSupport
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// `errand-dashboard`.
@Suite struct DashboardProgramTests {
    let server: RedisServer

    init() throws { server = try RedisServer() }

    func start(_ arguments: String..., environment: [String: String] = [:]) throws -> RunningExecutable {
        let environment = environment.merging(["ERRAND_REDIS_URL": server.url]) { own, _ in own }
        return try RunningExecutable(.dashboard, ["--port", "0"] + arguments, environment: environment)
    }

    func port(of program: RunningExecutable) async throws -> Int {
        let line = try await program.errorLine { $0.hasPrefix("dashboard: http://") }
        return try #require(line.split(separator: ":").last.flatMap { Int($0.dropLast()) })
    }

    /// The status of a response, requested over a plain socket, because Foundation handles a 401 itself.
    func status(
        _ port: Int,
        _ path: String = "/",
        user: String? = nil,
        method: String = "GET",
        headers: String = ""
    ) throws -> Int {
        try status(of: try asked(port, path, user: user, method: method, headers: headers))
    }

    /// Opens a connection and sends a request.
    func asked(
        _ port: Int,
        _ path: String = "/",
        user: String? = nil,
        method: String = "GET",
        headers: String = ""
    ) throws -> Int32 {
        let file = try connected(to: port)
        let authorization = user.map { "Authorization: Basic \(Data($0.utf8).base64EncodedString())\r\n" } ?? ""
        let lines = "Host: localhost:\(port)\r\n\(authorization)\(headers)Connection: close\r\n"
        let request = "\(method) \(path) HTTP/1.1\r\n\(lines)\r\n"
        try #require(write(file, request, request.utf8.count) == request.utf8.count)
        return file
    }

    /// The status of the response on a connection, which is then closed.
    func status(of file: Int32) throws -> Int {
        defer { close(file) }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = read(file, &buffer, buffer.count), count > 0 { answer += buffer[..<count] }
        return try #require(Int(String(decoding: answer.dropFirst(9).prefix(3), as: UTF8.self)))
    }

    func connected(to port: Int) throws -> Int32 {
        let file = socket(AF_INET, streamSocket, 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isConnected else {
            close(file)
            throw TestFailure("nothing listens on \(port)")
        }
        return file
    }

    #if canImport(Glibc)
        private let streamSocket = Int32(SOCK_STREAM.rawValue)
    #else
        private let streamSocket = SOCK_STREAM
    #endif

    func usersFile(_ text: String, mode: Int = 0o600) throws -> String {
        let path = server.directory + "/users"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    @Test(arguments: [(SIGTERM, 0), (SIGINT, 0), (SIGHUP, 0), (SIGQUIT, 131)] as [(Int32, Int32)])
    func `serves until it gets a signal`(signal: Int32, status expected: Int32) async throws {
        let program = try start()
        _ = try await program.errorLine { $0.hasPrefix("dashboard: http://127.0.0.1:") }
        let port = try await port(of: program)
        #expect(try status(port) == 200)
        #expect(try status(port, "/jobs") == 200)
        program.signal(signal)
        #expect(await program.end().status == expected)
    }

    @Test func `unread output delays neither pages nor the end`() async throws {
        let (place, port) = (server.directory, try FreePorts.next())
        let program = try RunningExecutable(
            .dashboard,
            ["--port", "\(port)"],
            environment: ["ERRAND_REDIS_URL": server.url],
            shell: #"""
                ( head -c 65536 /dev/zero; sh -c 'echo $$ >\#(place)/pid; exec "$@"' sh "$@"
                  echo $? >\#(place)/status ) 2>&1 | while [ ! -e \#(place)/status ]; do sleep 0.1; done
                """#
        )
        try await eventually("it serves pages") { (try? status(port)) == 200 }
        let pid = try #require(Int32(String(contentsOfFile: place + "/pid", encoding: .utf8).dropLast()))
        defer { if !FileManager.default.fileExists(atPath: place + "/status") { kill(pid, SIGKILL) } }
        kill(pid, SIGTERM)
        _ = await program.end()
        #expect(try String(contentsOfFile: place + "/status", encoding: .utf8) == "0\n")
    }

    /// Requests that never end.
    @Test(.timeLimit(.minutes(3))) func slowClientsAreDisconnectedAndDelayNoOthers() async throws {
        let program = try start()
        let port = try await port(of: program)
        let beginning = "GET / HTTP/1.1\r\nHost: loc"
        let slow = try (0..<300).map { _ in try connected(to: port) }
        defer { for file in slow { close(file) } }
        for file in slow { try #require(write(file, beginning, beginning.utf8.count) == beginning.utf8.count) }
        #expect(try status(port, "/jobs?limit=1000000000&count=1000000000") == 200)
        try await eventually("they are sent away") {
            slow.allSatisfy { file in
                var polled = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
                return poll(&polled, 1, 0) == 1
            }
        }
        #expect(try status(port) == 200)
    }

    @Test(.timeLimit(.minutes(3))) func theNumberOfEventStreamsIsLimited() async throws {
        let program = try start()
        let port = try await port(of: program)
        let request = "GET /events/stream HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n"
        let listening = try (0..<64).map { _ in
            let file = try connected(to: port)
            try #require(write(file, request, request.utf8.count) == request.utf8.count)
            var answer = [UInt8](repeating: 0, count: 12)
            try #require(read(file, &answer, 12) == 12 && answer.starts(with: Array("HTTP/1.1 200".utf8)))
            return file
        }
        #expect(try status(port, "/events/stream") == 503)
        for file in listening { close(file) }
        // It notices at its next write.
        try await eventually("there is a place again") {
            let file = try connected(to: port)
            defer { close(file) }
            try #require(write(file, request, request.utf8.count) == request.utf8.count)
            var answer = [UInt8](repeating: 0, count: 12)
            return read(file, &answer, 12) == 12 && answer.starts(with: Array("HTTP/1.1 200".utf8))
        }
    }

    @Test func endsWhileAnEventStreamIsOpen() async throws {
        let program = try start()
        let port = try await port(of: program)
        let file = try connected(to: port)
        defer { close(file) }
        let request = "GET /events/stream HTTP/1.1\r\nHost: localhost:\(port)\r\n\r\n"
        try #require(write(file, request, request.utf8.count) == request.utf8.count)
        var buffer = [UInt8](repeating: 0, count: 4096)
        #expect(read(file, &buffer, buffer.count) > 0)
        program.signal(SIGTERM)
        #expect(await program.end().status == 0)
    }

    @Test func requiresALogin() async throws {
        let users = try usersFile("# operators\nada:se:cret\n")
        let program = try start("--users", users, "--host", "0.0.0.0")
        let port = try await port(of: program)
        #expect(try status(port) == 401)
        #expect(try status(port, user: "ada:secret") == 401)
        #expect(try status(port, user: "bob:se:cret") == 401)
        #expect(try status(port, user: "ada:se:cret") == 200)
        #expect(try status(port, "/healthz") == 200)
        #expect(try status(port, "/metrics") == 401)
        #expect(try status(port, "/healthz", method: "HEAD") == 200)
        // Its response never ends, but its head is complete.
        #expect(try status(port, "/events/stream", user: "ada:se:cret", method: "HEAD") == 200)
        program.signal(SIGTERM)
        let output = await program.end()
        #expect(output.status == 0)
        #expect(!output.error.contains("cret"))
    }

    @Test func listensElsewhereOnlyWithUsers() async throws {
        for host in ["0.0.0.0", "::", "192.0.2.1"] {
            let output = try await start("--host", host).end()
            #expect(output.status == 78)
            #expect(output.error.contains("--users"))
        }
    }

    @Test(arguments: [("ada:x", 0o644), ("ada", 0o600), (":x", 0o600), ("", 0o600)])
    func rejectsAnInvalidOrReadableUsersFile(_ text: String, _ mode: Int) async throws {
        let output = try await start("--users", try usersFile(text, mode: mode)).end()
        #expect(output.status == 78, "\(output.error)")
    }

    @Test func `a broker that refuses it for good ends it, and one that cannot be reached does not`() async throws {
        let alone = try RedisServer(tcp: true)
        let cluster = "redis+cluster://\(alone.credentials)127.0.0.1:\(alone.port)"
        let refused = try start(environment: ["ERRAND_REDIS_URL": cluster])
        let output = await refused.end()
        #expect(output.status == 78, "\(output.error)")
        #expect(
            output.error.contains("error: ") && output.error.contains("is not a server of a cluster"),
            "\(output.error)"
        )
        let away = try start(environment: ["ERRAND_REDIS_URL": "redis://127.0.0.1:\(try FreePorts.next())"])
        _ = try await away.errorLine { $0.contains("no broker yet") }
        let port = try await port(of: away)
        #expect(try status(port, "/healthz") == 200)
        away.signal(SIGTERM)
        #expect(await away.end().status == 0)
    }

    @Test func reportsThatThePortIsTaken() async throws {
        let first = try start()
        let port = try await port(of: first)
        let second = try RunningExecutable(
            .dashboard,
            ["--port", String(port)],
            environment: ["ERRAND_REDIS_URL": server.url]
        )
        let output = await second.end()
        #expect(output.status == 69)
        #expect(output.error.contains("cannot listen on 127.0.0.1:\(port): another program uses this port"))
        first.signal(SIGTERM)
        _ = await first.end()
    }
}
