import Errand
import TestSupport
import Testing

@testable import ErrandCatalogue

/// Answers whose end is not where it should be, from servers that keep the connection open.
@Suite(.timeLimit(.minutes(1)))
struct HTTPFramingTests {
    private static let done = HandlerOutcome.finished(result: Array("done".utf8))
    private static let chunked = "Transfer-Encoding: chunked\r\n\r\n"

    /// The outcome of a call that is answered with this text, and nothing after it.
    private func call(_ answer: String, requests: Int = 1) async throws -> HandlerOutcome {
        let server = try WebServer(thenWaits: true) { _ in answer }
        let outcome = try await CatalogueRunner().call(server.url)
        #expect(server.requests.count == 1)
        try await eventually("the connection is closed") { server.abandoned == 1 }
        return outcome
    }

    /// The server has answered, so the work may have been done: it must not be done again.
    private func expectUnreadable(_ answer: String) async throws {
        guard case .failed(let message, true, nil) = try await call(answer) else { throw TestError("not final") }
        #expect(message.contains(" got no usable response: the response cannot be understood ("), "\(message)")
        #expect(message.hasSuffix("; the work may have been done"), "\(message)")
    }

    @Test(arguments: [
        "Content-Length: 4\r\nContent-Length: 5", "Content-Length: 5\r\nX: y\r\nCONTENT-LENGTH: 4",
        "Content-Length: 4, 5", "Content-Length: 4,", "Content-Length: 99999999999999999999999",
        "Content-Length: 9223372036854775808", "Content-Length: -4", "Content-Length: -1", "Content-Length: +4",
        "Content-Length: 4 4", "Content-Length: 0x4", "Content-Length: 4.0", "Content-Length: 4;",
        "Content-Length: four",
        "Content-Length:", "Content-Length: ٤", "Content-Length: 4\r\n 4", "Content-Length:\r\n 4",
        "Content-Length : 4",
    ]) func `a length that is none or two is final`(field: String) async throws {
        try await expectUnreadable("HTTP/1.1 200 OK\r\n\(field)\r\n\r\ndone")
    }

    @Test(arguments: [
        "Transfer-Encoding: gzip", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked, gzip",
        "Transfer-Encoding: chunked, chunked", "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: identity", "Transfer-Encoding: xchunked", "Transfer-Encoding: chunked;q=1",
        "Transfer-Encoding:", "Transfer-Encoding:\r\n chunked", "Transfer-Encoding : chunked",
        "Transfer-Encoding: gzip\r\nContent-Length: 4",
    ]) func `an unknown transfer encoding is final`(field: String) async throws {
        try await expectUnreadable("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n4\r\ndone\r\n0\r\n\r\n")
    }

    @Test(arguments: [
        "zz\r\n", "-4\r\ndone\r\n", "+4\r\ndone\r\n", "\r\n4\r\ndone\r\n", " 4\r\ndone\r\n", "ffffffffffffffffffff\r\n",
        "00000000000000000000000000000004\r\ndone\r\n", "4\r\ndone0\r\n\r\n", "2\r\ndone\r\n", ";x\r\n",
        "4\r\ndone\r\n0\r\nno colon\r\n\r\n", "4\r\ndone\r\n0\r\n\0: y\r\n\r\n",
    ]) func `bad chunks are final`(chunks: String) async throws {
        try await expectUnreadable("HTTP/1.1 200 OK\r\n" + Self.chunked + chunks)
        try await expectUnreadable("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n" + Self.chunked + chunks)
    }

    @Test func `chunks with trailers without end are final`() async throws {
        let trailers = String(repeating: "X: y\r\n", count: 100_000)
        guard
            case .failed(let message, true, nil) = try await call(
                "HTTP/1.1 200 OK\r\n" + Self.chunked + "4\r\ndone\r\n0\r\n" + trailers
            )
        else { throw TestError("not final") }
        #expect(message.hasSuffix("larger than 256 KiB; the work may have been done"))
    }

    @Test(arguments: [
        "Content-Length: 4\r\nContent-Length: 4\r\n\r\ndone", "Content-Length: 4, 4\r\n\r\ndone",
        "content-length:4 \r\n\r\ndone", "Content-Length: 0004\r\n\r\ndone", "Content-Length: 4\r\n\r\ndone and more",
        "transfer-encoding: Chunked\r\n\r\n4\r\ndone\r\n0\r\n\r\n",
        chunked + "04 ;x=\"y\"\r\ndone\r\n0\r\nContent-Length: x\r\n\r\n",
        // The encoding takes precedence (RFC 9112, 6.3); with one connection for one answer, nothing hides behind it.
        "Content-Length: 2\r\n" + chunked + "4\r\ndone\r\n0\r\n\r\n",
        "Content-Length: 99\r\n" + chunked + "4\r\ndone\r\n0\r\n\r\n",
        "Content-Length: x\r\n" + chunked + "4\r\ndone\r\n0\r\n\r\n",
    ]) func `a clear end counts`(rest: String) async throws {
        #expect(try await call("HTTP/1.1 200 OK\r\n" + rest) == Self.done)
        #expect(
            try await call("HTTP/1.1 103 Early\r\nContent-Length: 9\r\n\r\nHTTP/1.1 200 OK\r\n" + rest) == Self.done
        )
    }

    @Test(arguments: [
        "Content-Length: 4\r\n\r\ndone", chunked + "4\r\ndone\r\n0\r\n\r\n", "Content-Length: x\r\n\r\n", "\r\n",
    ])
    func `an answer without a body ends with its head`(rest: String) async throws {
        #expect(try await call("HTTP/1.1 204 No Content\r\n" + rest) == .finished(result: []))
        for status in [101, 304, 404] {
            guard case .failed(let message, true, nil) = try await call("HTTP/1.1 \(status) X\r\n" + rest) else {
                throw TestError("not final")
            }
            #expect(message.contains("returned status \(status)"))
        }
    }

    @Test(arguments: ["Content-Length: x", "Content-Length: 1\r\nContent-Length: 2", "Transfer-Encoding: gzip"])
    func `a status that is no success counts whatever the length`(field: String) async throws {
        guard case .failed(let message, false, nil) = try await call("HTTP/1.1 503 X\r\n\(field)\r\n\r\n") else {
            throw TestError("not to retry")
        }
        #expect(message.hasSuffix("returned status 503"))
    }

    @Test func `interim answers without end are final`() async throws {
        let interim = String(repeating: "HTTP/1.1 102 Processing\r\nX: y\r\n\r\n", count: 20_000)
        guard case .failed(let message, true, nil) = try await call(interim) else { throw TestError("not final") }
        #expect(message.hasSuffix("larger than 256 KiB; the work may have been done"))
    }
}
