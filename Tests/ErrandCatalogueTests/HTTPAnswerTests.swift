import Errand
import Foundation
import TestSupport
import Testing

@testable import ErrandCatalogue

/// What becomes of a job whose web server answers in odd ways.
@Suite(.timeLimit(.minutes(6)))
struct HTTPAnswerTests {
    private static let ok = "HTTP/1.1 200 OK\r\n"

    /// The outcome of a call that is answered with these bytes, after which the server closes.
    private func call(_ answer: [UInt8], reset: Bool = false) async throws -> HandlerOutcome {
        let server = try WebServer { connection in
            guard connection.readRequest() != nil else { return }
            connection.send(answer)
            if reset { connection.resetAtEnd() }
        }
        return try await CatalogueRunner().call(server.url)
    }

    private func call(_ answer: String) async throws -> HandlerOutcome { try await call(Array(answer.utf8)) }

    /// Bytes of a header field that are not UTF-8, or not what the standard allows.
    @Test(
        arguments: [
            Array("X-Name: caf".utf8) + [0xE9, 0xFF], Array("X-".utf8) + [0xE9, 0x3A, 0x20, 0x61], Array("X-é: ü".utf8),
            Array("X-A: a".utf8) + [1, 0x7F, 9], Array("X A: b".utf8), Array("X-A : b".utf8), Array(": b".utf8),
            Array("X-A:".utf8), Array("X-A: a\r\n folded".utf8), Array("X-A: a\nX-B: b".utf8),
            Array("Content-Length: 4".utf8), Array("Set-Cookie: a=b".utf8),
        ] as [[UInt8]]
    ) func `odd bytes in a header field do not matter`(field: [UInt8]) async throws {
        let answer = Array(Self.ok.utf8) + field + Array("\r\nContent-Length: 4\r\n\r\ndone".utf8)
        #expect(try await call(answer) == .finished(result: Array("done".utf8)))
    }

    @Test(arguments: [
        "HTTP/1.1 200\r\nContent-Length: 4\r\n\r\ndone", "HTTP/1.1 200 äö\u{1}\r\nContent-Length: 4\r\n\r\ndone",
        "HTTP/1.0 200 OK\r\n\r\ndone", "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\ndone",
        "HTTP/1.1 200 OK\nContent-Length: 4\n\ndone", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone and more",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nX: y\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\ndo\r\n2\r\nne\r\n0\r\nX: y\r\n\r\n",
        "HTTP/1.1 200 OK\r\n" + (0..<500).map { "X-\($0): y\r\n" }.joined() + "Content-Length: 4\r\n\r\ndone",
    ]) func `odd answers that can be read count`(answer: String) async throws {
        #expect(try await call(answer) == .finished(result: Array("done".utf8)))
    }

    @Test(arguments: [204, 205]) func `an answer without a body has none`(status: Int) async throws {
        let body = status == 204 ? "Content-Length: 4\r\n\r\nmore" : "Content-Length: 0\r\n\r\n"
        #expect(try await call("HTTP/1.1 \(status) X\r\n" + body) == .finished(result: []))
    }

    /// The server has answered, so the work may have been done: it must not be done again.
    @Test(arguments: [
        "HTTP/1.9 200 OK\r\n\r\n", "HTTP/1.1 99 X\r\n\r\n", "HTTP/1.1 099 X\r\nContent-Length: 4\r\n\r\ndone",
        "HTTP/1.1 1000 X\r\n\r\n", "HTTP/1.1 abc X\r\n\r\n", "HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\r\n X: a\r\n\r\n", "HTTP/1.1 200 OK\r\nX\r: a\r\n\r\n",
        "HTTP/.1 503 X\r\n\r\n", "HTTP/.1 200 OK\r\n\r\n", "HTTP/ 503 X\r\n\r\n", "HTTP/x.1 503 X\r\n\r\n",
        "HTTP/\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/-1 503 X\r\n\r\n",
    ]) func `a head that cannot be read is final`(answer: String) async throws {
        guard case .failed(let message, true, nil) = try await call(answer) else { throw TestError("not final") }
        #expect(message.contains("got no usable response: the response cannot be understood ("), "\(message)")
        #expect(!message.contains("libcurl"))
    }

    @Test(arguments: [
        Self.ok + "X: " + String(repeating: "a", count: 1_000_000) + "\r\n\r\n",
        Self.ok + String(repeating: "X: a\r\n", count: 100_000) + "\r\n",
        String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 50_000),
        "HTTP/1.1 200 " + String(repeating: "a", count: 1_000_000),
    ]) func `a head without end is final`(answer: String) async throws {
        guard case .failed(let message, true, nil) = try await call(answer) else { throw TestError("not final") }
        #expect(message.hasSuffix("the head of the response is larger than 256 KiB; the work may have been done"))
    }

    @Test(arguments: [
        "", "HTTP/1.1 2", "HTTP/1.1 200 OK\r\nX: a", "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\ndone",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\ndo\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\ndo",
    ]) func `an answer that is cut off is a lost connection`(answer: String) async throws {
        guard case .failed(let message, false, nil) = try await call(answer) else { throw TestError("not to retry") }
        #expect(message.hasSuffix("got no response: the connection was lost"))
    }

    @Test func `a reset is a lost connection`() async throws {
        guard case .failed(let message, false, nil) = try await call([], reset: true) else { throw TestError("?") }
        #expect(message.hasSuffix("got no response: the connection was lost"))
    }

    @Test(arguments: [(600, false), (999, false), (101, true)])
    func `a status beyond those of the standard is that of a server in trouble`(status: Int, final: Bool) async throws {
        guard case .failed(let message, let isFinal, nil) = try await call("HTTP/1.1 \(status) X\r\n\r\n") else {
            throw TestError("not a failure")
        }
        #expect(message.hasSuffix("returned status \(status)"))
        #expect(isFinal == final)
    }

    @Test func `compressed bodies are not asked for and not unpacked`() async throws {
        let server = try WebServer { _ in WebServer.answer(200, ["Content-Encoding": "gzip"], "done") }
        #expect(try await CatalogueRunner().call(server.url) == .finished(result: Array("done".utf8)))
        #expect(server.requests.first?.headers["accept-encoding"] == nil)
    }

    @Test(arguments: [500, 404]) func `the body of a failure is not waited for`(status: Int) async throws {
        let server = try WebServer(thenWaits: true) { _ in "HTTP/1.1 \(status) X\r\nContent-Length: 10\r\n\r\n" }
        guard case .failed = try await CatalogueRunner().call(server.url) else { throw TestError("not a failure") }
        try await eventually("the connection is closed") { server.abandoned == 1 }
    }

    @Test func `a body without end is read for a while, and its beginning is the result`() async throws {
        let server = try WebServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\n\r\n")
            while connection.send([UInt8](repeating: UInt8(ascii: "x"), count: 65_536)) {}
            connection.waitForEnd()
        }
        #expect(try await CatalogueRunner().call(server.url) == .finished(result: Array(repeating: 120, count: 65_536)))
        try await eventually("the connection is closed") { server.abandoned == 1 }
    }

    @Test func `a cancelled call stops receiving`() async throws {
        let (begun, continuation) = AsyncStream<Void>.makeStream()
        let server = try WebServer { connection in
            _ = connection.readRequest()
            connection.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n")
            continuation.yield()
            while connection.send("x") { usleep(1000) }
            connection.waitForEnd()
        }
        let url = server.url
        let job = Task { try await CatalogueRunner().call(url) }
        for await _ in begun { break }
        job.cancel()
        #expect(try await job.value == .failed("stopped"))
        try await eventually("the connection is closed") { server.abandoned == 1 }
    }

    @Test func `a call that is cancelled before it begins is not made`() async throws {
        let server = try WebServer { _ in WebServer.answer(200) }
        let url = server.url
        let job = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await CatalogueRunner().call(url)
        }
        #expect(try await job.value == .failed("stopped"))
        #expect(try await CatalogueRunner().call(url) == .finished(result: []))
        #expect(server.requests.count == 1)
    }
}
