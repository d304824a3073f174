import Errand
import ErrandWebhooks
import Foundation
import TestSupport
import Testing

/// Posts to a real web server that fails.
@Suite struct HTTPWebhookTransportTests {
    private let transport = HTTPWebhookTransport()

    private func post(
        _ server: WebServer,
        timeout: Duration = .seconds(60)
    ) async throws -> (status: Int, retryAfter: Int?) {
        let url = try #require(URL(string: server.url))
        return try await transport.post(Data("{}".utf8), to: url, headers: [("a", "b")], timeout: timeout)
    }

    @Test func `the response's status and pause are reported`() async throws {
        let server = try WebServer { _ in WebServer.answer(503, ["Retry-After": "7"]) }
        let answer = try await post(server)
        #expect(answer.status == 503 && answer.retryAfter == 7)
        #expect(server.requests.first?.headers["a"] == "b")
    }

    @Test func `a redirect is a response`() async throws {
        let server = try WebServer { _ in WebServer.answer(302, ["Location": "http://127.0.0.1:1/"]) }
        #expect(try await post(server).status == 302)
    }

    @Test func `a response that asks for a password is a response`() async throws {
        let server = try WebServer { _ in WebServer.answer(401, ["WWW-Authenticate": "Basic realm=\"x\""]) }
        #expect(try await post(server).status == 401)
    }

    @Test(.timeLimit(.minutes(1))) func `a silent receiver ends with the timeout`() async throws {
        let server = try WebServer { _ in nil }
        let error = await #expect(throws: JobFailure.self) { try await post(server, timeout: .seconds(1)) }
        #expect(error?.message == "no response: no response came within 1 s" && error?.isFinal == false)
        try await eventually("the connection is given up") { server.abandoned == 1 }
    }

    @Test func `an unreachable receiver is a failure to retry`() async throws {
        let gone = try WebServer { _ in nil }.url
        let url = try #require(URL(string: gone))
        let error = await #expect(throws: JobFailure.self) {
            try await transport.post(Data(), to: url, headers: [], timeout: .seconds(60))
        }
        #expect(error?.message == "no response: the connection was refused" && error?.isFinal == false)
    }

    @Test func `a response with odd header bytes counts`() async throws {
        let server = try WebServer { connection in
            _ = connection.readRequest()
            connection.send(Array("HTTP/1.1 200 OK\r\nX-Name: caf".utf8) + [0xE9, 0xFF, 13, 10, 13, 10])
        }
        #expect(try await post(server).status == 200)
    }

    @Test func `a response that is not HTTP is final`() async throws {
        let server = try WebServer { _ in "220 mail.example.com ESMTP\r\n" }
        let error = await #expect(throws: JobFailure.self) { try await post(server) }
        #expect(error?.isFinal == true)
        #expect(error?.message.hasPrefix("no usable response: the other side does not speak HTTP; ") == true)
    }

    @Test func `a post whose connection ends is not sent twice`() async throws {
        let server = try WebServer { connection in
            guard connection.readRequest() != nil, connection.requestsOfServer == 1 else { return }
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
            _ = connection.readRequest()
        }
        #expect(try await post(server).status == 200)
        let error = await #expect(throws: JobFailure.self) { try await post(server) }
        #expect(error?.message == "no response: the connection was lost" && error?.isFinal == false)
        #expect(server.requests.map { String(decoding: $0.body, as: UTF8.self) } == ["{}", "{}"])
    }

    @Test func `a late response is not taken for that of the next post`() async throws {
        let server = try WebServer { connection in
            while connection.readRequest() != nil {
                let isFirst = connection.requestsOfServer == 1
                connection.send("HTTP/1.1 \(isFirst ? 200 : 204) X\r\nContent-Length: 0\r\n\r\n")
                if isFirst { connection.send("HTTP/1.1 500 LATE\r\nContent-Length: 0\r\n\r\n") }
            }
        }
        #expect(try await post(server).status == 200)
        #expect(try await post(server).status == 204)
    }

    /// The body does not matter, nor does where it ends.
    @Test func `a status counts whatever the length of the body`() async throws {
        let server = try WebServer(thenWaits: true) { _ in "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n" }
        #expect(try await post(server).status == 200)
    }

    @Test(arguments: [
        ("Content-Length", "1"), ("transfer-encoding", "chunked"), ("HOST", "x"), ("a b", "c"), ("a", "b\nc"),
    ])
    func `headers that frame the request, or are invalid, are rejected`(name: String, value: String) async throws {
        let server = try WebServer { _ in WebServer.answer(200) }
        let url = try #require(URL(string: server.url))
        await #expect(throws: WebhookError.self) {
            try await transport.post(Data(), to: url, headers: [(name, value)], timeout: .seconds(60))
        }
        #expect(server.requests.isEmpty)
    }

    @Test func `a body is neither waited for nor read whole`() async throws {
        let unsent = "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n"
        let server = try WebServer(thenWaits: true) { _ in unsent + String(repeating: "x", count: 1_000_000) }
        #expect(try await post(server).status == 200)
        try await eventually("the connection is given up") { server.abandoned == 1 }
    }

    @Test func `a cancelled call ends`() async throws {
        let server = try WebServer { _ in nil }
        let posting = Task { try await post(server) }
        try await eventually("it was asked") { server.requests.count == 1 }
        posting.cancel()
        await #expect(throws: CancellationError.self) { try await posting.value }
    }

    /// A cancellation may come at any moment of the exchange.
    @Test(.timeLimit(.minutes(6)), arguments: [200, 302])
    func `a simultaneous response and cancellation block nothing`(status: Int) async throws {
        let server = try WebServer { _ in WebServer.answer(status, ["Location": "/elsewhere"]) }
        for delay in 0..<200 {
            let posting = Task { try await post(server) }
            let canceller = Task {
                // Without a wait, the cancellation comes at another moment of the exchange each time.
                try await Task.sleep(for: .microseconds(delay * 20))
                posting.cancel()
            }
            do { #expect(try await posting.value.status == status) } catch is CancellationError {}
            try await canceller.value
        }
    }
}
