import Errand
import Foundation
import TestSupport
import Testing

@testable import ErrandCatalogue

/// What becomes of the connections of web calls.
@Suite(.timeLimit(.minutes(6)))
struct HTTPConnectionTests {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone"
    private static let done = HandlerOutcome.finished(result: Array("done".utf8))

    @Test(arguments: CatalogueRequest.methods, [false, true])
    func `a request whose connection ends after it was read is not sent again`(
        method: String,
        reset: Bool
    ) async throws {
        let server = try WebServer { connection in
            while connection.readRequest() != nil {
                guard connection.requestsOfServer == 1 else { break }
                connection.send(Self.answer)
            }
            if reset { connection.resetAtEnd() }
        }
        #expect(try await CatalogueRunner().call(server.url, method: method) == Self.done)
        let lost = "\(method) to 127.0.0.1:\(server.port) got no response: the connection was lost"
        #expect(try await CatalogueRunner().call(server.url, method: method) == .failed(lost))
        #expect(server.requests.count == 2)
        #expect(server.requests.allSatisfy { $0.body == (method == "GET" ? [] : CatalogueRunner.arguments) })
    }

    @Test func `IPv6 addresses work`() async throws {
        let server = try WebServer(ipv6: true) { connection in
            _ = connection.readRequest()
            connection.send(Self.answer)
        }
        #expect(try await CatalogueRunner().call("http://[::1]:\(server.port)/x") == Self.done)
        #expect(server.requests.first?.headers["host"] == "[::1]:\(server.port)")
        let gone = try WebServer(ipv6: true) { _ in }.port
        #expect(
            try await CatalogueRunner().call("http://[::1]:\(gone)/")
                == .failed("POST to [::1]:\(gone) got no response: the connection was refused")
        )
    }

    @Test func `causes have names`() async throws {
        let unknown = try await CatalogueRunner().call("http://no-such-host.invalid/")
        #expect(
            unknown
                == .failed(
                    "POST to no-such-host.invalid got no response: the server's name cannot be resolved; check it and this host's DNS"
                )
        )
        let plain = try WebServer { connection in
            connection.send(Self.answer)
            connection.waitForEnd()
        }
        let secure = try await CatalogueRunner().call("https://127.0.0.1:\(plain.port)/")
        guard case .failed(let message, false, nil) = secure else { throw TestError("not to retry") }
        #expect(message.contains("got no response: no secure connection (TLS) can be made ("))
    }

    /// A job of 400 ms leaves three quarters of that for the connection.
    @Test func `a server that does not answer TLS is named, and how long it had`() async throws {
        let server = try WebServer { connection in connection.waitForEnd() }
        let request = CatalogueRequest(
            method: "POST",
            address: try WebAddress("https://127.0.0.1:\(server.port)/")
        )
        let job = JobFacts(
            id: "j1",
            operation: "notify",
            deadline: Int64(Date().timeIntervalSince1970 * 1000) + 400
        )
        let outcome = await CatalogueRunner().run(CatalogueOperation(name: "notify", kind: .http(request)), job: job)
        guard case .failed(let message, false, nil) = outcome else { throw TestError("not to retry: \(outcome)") }
        let start = "got no response: no secure connection (TLS) was made within "
        let milliseconds = try #require(message.split(separator: start).last?.dropLast(3)).description
        #expect((1...300).contains(Int(milliseconds) ?? 0), "\(message)")
    }

    @Test func `a large body is sent whole, without a pause`() async throws {
        let server = try WebServer { request in
            WebServer.answer(200, [:], "\(request.body.count) \(request.headers["expect"] ?? "-")")
        }
        let text = "[" + String(repeating: "1,", count: 500_000) + "1]"
        let outcome = try await CatalogueRunner().call(server.url, arguments: Array(text.utf8))
        #expect(outcome == .finished(result: Array("\(text.utf8.count) -".utf8)))
    }

    @Test func `programs that are started meanwhile do not get the connection`() async throws {
        let (asked, continuation) = AsyncStream<Void>.makeStream()
        let answered = DispatchSemaphore(value: 0)
        let server = try WebServer { connection in
            _ = connection.readRequest()
            continuation.yield()
            answered.wait()
            connection.send(Self.answer)
        }
        let (url, port) = (server.url, server.port)
        let job = Task { try await CatalogueRunner().call(url) }
        for await _ in asked { break }
        let flags = (0..<4096).filter { Self.isConnected($0, to: port) }.map { fcntl($0, F_GETFD) & FD_CLOEXEC }
        answered.signal()
        #expect(flags == [FD_CLOEXEC])
        #expect(try await job.value == Self.done)
    }

    private static func isConnected(_ descriptor: Int32, to port: UInt16) -> Bool {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let error = withUnsafeMutableBytes(of: &address) { bytes in
            bytes.baseAddress.map { getpeername(descriptor, $0.assumingMemoryBound(to: sockaddr.self), &length) }
        }
        return error == 0 && address.sin_port == port.bigEndian
    }

    /// Both the answer and its end come before the whole request has been read.
    @Test func `an early refusal of a large body counts`() async throws {
        let server = try WebServer { connection in
            connection.send("HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
            connection.endSending()
            connection.waitForEnd()
        }
        let text = "[" + String(repeating: "1,", count: 5_000_000) + "1]"
        let outcome = try await CatalogueRunner().call(server.url, arguments: Array(text.utf8))
        guard case .failed(let message, true, nil) = outcome else { throw TestError("\(outcome)") }
        #expect(message.hasSuffix("returned status 413"))
    }

    @Test func `a server that ends its side and reads on loses nothing`() async throws {
        let server = try WebServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.send(Self.answer)
            connection.endSending()
            connection.waitForEnd()
        }
        #expect(try await CatalogueRunner().call(server.url) == Self.done)
        #expect(try await CatalogueRunner().call(server.url, method: "GET") == Self.done)
        #expect(server.requests.count == 2)
    }

    @Test(arguments: CatalogueRequest.methods)
    func `a server that ends its side at once gets a request at most once`(method: String) async throws {
        let server = try WebServer { connection in
            connection.endSending()
            while connection.readRequest() != nil {}
        }
        guard case .failed(let message, false, nil) = try await CatalogueRunner().call(server.url, method: method)
        else {
            throw TestError("not to retry")
        }
        #expect(message.hasSuffix("the connection was lost"))
        #expect(server.connections == 1)
        #expect(server.requests.count <= 1)
    }

    @Test func `an answer that comes byte by byte counts`() async throws {
        let server = try WebServer { connection in
            _ = connection.readRequest()
            for byte in "HTTP/1.1 100 Continue\r\n\r\n\(Self.answer)".utf8 {
                connection.send([byte])
                // The client does not show what it has read: the pause lets it read one byte before the next is sent.
                usleep(500)
            }
            connection.waitForEnd()
        }
        #expect(try await CatalogueRunner().call(server.url) == Self.done)
    }

    @Test func `a name with an IPv6 and an IPv4 address works with either server`() async throws {
        for ipv6 in [false, true] {
            let server = try WebServer(ipv6: ipv6) { connection in
                _ = connection.readRequest()
                connection.send(Self.answer)
            }
            #expect(try await CatalogueRunner().call("http://localhost:\(server.port)/") == Self.done)
        }
    }
}
