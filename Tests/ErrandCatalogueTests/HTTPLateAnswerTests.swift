import Errand
import Foundation
import TestSupport
import Testing

@testable import ErrandCatalogue

/// What a server sends when it has answered already.
@Suite(.timeLimit(.minutes(1)))
struct HTTPLateAnswerTests {
    /// What comes on a connection between two calls, and whether the server closes its side then.
    struct Late: Sendable {
        var text: String
        var closes = false
    }

    private static func answer(_ body: String) -> String { "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n\(body)" }

    @Test(
        arguments: [
            Late(text: answer("STALE")), Late(text: answer("STALE"), closes: true), Late(text: "", closes: true),
            Late(text: "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", closes: true),
            Late(text: "HTTP/1.1 100 Continue\r\n\r\n"), Late(text: "\r\n"), Late(text: "stray"), Late(text: "\0"),
        ],
        CatalogueRequest.methods
    )
    func `what a server sends after its answer is not the answer to the next call`(
        late: Late,
        method: String
    ) async throws {
        let taken = DispatchSemaphore(value: 0)
        let (sent, continuation) = AsyncStream<Void>.makeStream()
        let server = try WebServer { connection in
            while connection.readRequest() != nil {
                guard connection.requestsOfServer == 1 else { return _ = connection.send(Self.answer("other")) }
                connection.send(Self.answer("first"))
                taken.wait()
                connection.send(late.text)
                if late.closes { connection.endSending() }
                continuation.yield()
            }
        }
        #expect(try await CatalogueRunner().call(server.url, method: method) == .finished(result: Array("first".utf8)))
        taken.signal()
        for await _ in sent { break }
        #expect(try await CatalogueRunner().call(server.url, method: method) == .finished(result: Array("other".utf8)))
        #expect(server.requests.count == 2)
    }

    @Test func `each request has a connection of its own, and the server knows`() async throws {
        let server = try WebServer { connection in
            while connection.readRequest() != nil { connection.send(Self.answer("first")) }
            connection.waitForEnd()
        }
        for _ in 0..<3 { _ = try await CatalogueRunner().call(server.url) }
        #expect(server.connections == 3)
        #expect(server.requests.allSatisfy { $0.headers["connection"] == "close" })
        try await eventually("the connections are closed") { server.abandoned == 3 }
    }
}
