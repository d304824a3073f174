import Errand
import TestSupport
import Testing

@testable import ErrandCatalogue

/// Servers that speak something else than HTTP on the port of an `http` address.
@Suite(.timeLimit(.minutes(1)))
struct ForeignProtocolTests {
    /// The final failure of a call; the server may speak first, or wait for the request.
    private func failure(_ answer: [UInt8], first: Bool = false, path: String = "/") async throws -> String {
        let server = try WebServer { connection in
            if first { connection.send(answer) }
            guard connection.readRequest() != nil else { return }
            if !first { connection.send(answer) }
            connection.waitForEnd()
        }
        guard case .failed(let message, true, nil) = try await CatalogueRunner().call(server.url + path) else {
            throw TestError("not a final failure")
        }
        let start = "POST to 127.0.0.1:\(server.port) got no usable response: the other side "
        #expect(message.hasPrefix(start), "\(message)")
        return String(message.dropFirst(start.count))
    }

    @Test(
        arguments: [
            ("SSH-2.0-OpenSSH_9.2p1 Debian-2+deb12u3\r\n", "SSH-2.0-OpenSSH_9.2p1 De"),
            ("220 mail.example.com ESMTP\r\n", "220 mail.example.com ESM"),
            ("-ERR unknown command\r\n", "-ERR unknown command"),
            ("+OK Dovecot ready.\r\n", "+OK Dovecot ready."), ("* OK IMAP\r\n", "* OK IMAP"), ("hello\r\n", "hello"),
            ("J\0\0\0\u{A}8.0.33\0", "J"), ("\0\0\08.0.33\0", "8.0.33"), ("say \"hi\"\r\n", "say "),
            ("<html>\r\n", "<html>"),
            ("{\"a\":1}", "{"), ("ICY 200 OK\r\n\r\n", "ICY 200 OK"),
            ("HTTP 200\r\n\r\n", "HTTP 200"), ("RTSP/1.0 200 OK\r\n\r\n", "RTSP/1.0 200 OK"),
        ],
        [false, true]
    )
    func `the first characters of another protocol are quoted`(
        _ sample: (answer: String, quote: String),
        first: Bool
    ) async throws {
        #expect(
            try await failure(Array(sample.answer.utf8), first: first)
                == "does not speak HTTP; its response begins with \"\(sample.quote)\"; the work may have been done"
        )
    }

    /// An alert, as OpenSSL and Go send it to what is no handshake, and a handshake.
    @Test(arguments: [[0x15, 3, 1, 0, 2, 2, 0x46], [0x15, 3, 3, 0, 2, 2, 22], [0x16, 3, 1, 0, 200]] as [[UInt8]])
    func `TLS is named`(answer: [UInt8]) async throws {
        #expect(try await failure(answer) == "does not speak HTTP but TLS; write https:// instead of http://")
    }

    /// The first frame of gRPC servers and others.
    @Test(arguments: [[0, 0, 0, 4, 0, 0, 0, 0, 0], [0, 0, 6, 4, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 100]] as [[UInt8]])
    func `HTTP/2 is named`(answer: [UInt8]) async throws {
        #expect(try await failure(answer) == "does not speak HTTP/1.1 but only HTTP/2")
    }

    @Test(arguments: [[0], [0, 1, 2, 3], [0xFF, 0xFE], [13, 10]] as [[UInt8]])
    func `bytes that are no text are not quoted`(answer: [UInt8]) async throws {
        #expect(try await failure(answer) == "does not speak HTTP; the work may have been done")
    }

    @Test func `a server that sends the request back is not quoted`() async throws {
        let echo = Array("POST /?key=secret HTTP/1.1\r\n".utf8)
        #expect(
            try await failure(echo, path: "/?key=secret")
                == "does not speak HTTP; it only sends back what it gets, so check the port"
        )
    }

    @Test func `an answer that is not HTTP after an interim one is named as well`() async throws {
        let answer = Array("HTTP/1.1 100 Continue\r\n\r\n+OK\r\n".utf8)
        #expect(
            try await failure(answer)
                == "does not speak HTTP; its response begins with \"+OK\"; the work may have been done"
        )
    }
}
