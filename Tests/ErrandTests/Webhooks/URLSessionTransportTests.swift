import ErrandWebhooks
import Foundation
import TestSupport
import Testing

/// Posts to a web server that is really there, and goes wrong.
@Suite struct URLSessionTransportTests {
    private let transport = URLSessionTransport()

    private func post(_ server: WebServer) async throws -> (status: Int, retryAfter: Int?) {
        let url = try #require(URL(string: server.url))
        return try await transport.post(Data("{}".utf8), to: url, headers: [("a", "b")], timeout: .seconds(60))
    }

    @Test func `the answer's status and pause are told`() async throws {
        let server = try WebServer { _ in WebServer.answer(503, ["Retry-After": "7"]) }
        let answer = try await post(server)
        #expect(answer.status == 503 && answer.retryAfter == 7)
        #expect(server.requests.first?.headers["a"] == "b")
    }

    @Test func `a redirect is an answer`() async throws {
        let server = try WebServer { _ in WebServer.answer(302, ["Location": "http://127.0.0.1:1/"]) }
        #expect(try await post(server).status == 302)
    }

    @Test func `a body is neither waited for nor read whole`() async throws {
        let unsent = "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n"
        let server = try WebServer(thenWaits: true) { _ in unsent + String(repeating: "x", count: 1_000_000) }
        #expect(try await post(server).status == 200)
        try await eventually("the connection is given up") { server.abandoned == 1 }
    }

    @Test func `whoever is cancelled waits no longer`() async throws {
        let server = try WebServer { _ in nil }
        let posting = Task { try await post(server) }
        try await eventually("it was asked") { server.requests.count == 1 }
        posting.cancel()
        await #expect(throws: CancellationError.self) { try await posting.value }
    }

    /// The session waits for its queue, and its queue for whoever is cancelled, unless one of them is careful.
    @Test(.timeLimit(.minutes(6))) func `an answer and a cancellation at the same time block nobody`() async throws {
        let server = try WebServer { _ in WebServer.answer(200) }
        for delay in 0..<200 {
            let posting = Task { try await post(server) }
            let canceller = Task {
                // Nothing is waited for: the cancellation comes at another moment of the exchange each time.
                try await Task.sleep(for: .microseconds(delay * 20))
                posting.cancel()
            }
            do { #expect(try await posting.value.status == 200) } catch is CancellationError {}
            try await canceller.value
        }
    }
}
