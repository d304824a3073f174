import Foundation
import Synchronization

/// A web server on the loopback device that keeps what it is asked and answers what the test says.
package final class WebServer: Sendable {
    /// What came over one connection.
    package struct Request: Sendable {
        package var line = ""
        package var headers: [String: String] = [:]
        package var body: [UInt8] = []
    }

    private final class Received: Sendable {
        private let requests = Mutex<[Request]>([])
        let abandoned = Atomic(0)

        var all: [Request] { requests.withLock(\.self) }

        func append(_ request: Request) {
            requests.withLock { $0.append(request) }
        }
    }

    package let port: UInt16
    private let listener: Int32
    private let received = Received()

    /// Starts a server; `answer` makes the whole answer of a request, or `nil` to let it wait for ever.
    ///
    /// - Parameter thenWaits: it does not close a connection by itself after an answer.
    package init(thenWaits: Bool = false, answer: @escaping @Sendable (Request) -> String?) throws {
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let error = withUnsafeMutablePointer(to: &address) { address in
            address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, length) != 0 || listen(listener, 16) != 0
                    || getsockname(listener, address, &length) != 0
            }
        }
        guard !error else { throw TestFailure("no server: \(errno)") }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread { [received] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else {
                    if errno == EINTR || errno == ECONNABORTED { continue }
                    // By nobody else: the next server gets the same number, and its connections would come in here.
                    close(listener)
                    return
                }
                Thread.detachNewThread {
                    let request = Self.read(connection)
                    received.append(request)
                    let text = answer(request)
                    if let text { Self.write(text, to: connection) }
                    if thenWaits || text == nil {
                        // Until the other side gives up.
                        var byte: UInt8 = 0
                        while recv(connection, &byte, 1, 0) > 0 {}
                        received.abandoned.add(1, ordering: .relaxed)
                    }
                    close(connection)
                }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    package var url: String { "http://127.0.0.1:\(port)" }
    package var requests: [Request] { received.all }
    /// How many connections the other side has given up.
    package var abandoned: Int { received.abandoned.load(ordering: .relaxed) }

    /// An answer of one status, with header fields and a body.
    package static func answer(_ status: Int, _ headers: [String: String] = [:], _ body: String = "") -> String {
        let fields = headers.merging(["Content-Length": "\(body.utf8.count)", "Connection": "close"]) { own, _ in own }
        return "HTTP/1.1 \(status) Status\r\n" + fields.map { "\($0): \($1)\r\n" }.joined() + "\r\n" + body
    }

    private static func read(_ connection: Int32) -> Request {
        var bytes: [UInt8] = []
        var request = Request()
        let end = Array("\r\n\r\n".utf8)
        while !bytes.suffix(4).elementsEqual(end) {
            var byte: UInt8 = 0
            guard recv(connection, &byte, 1, 0) == 1 else { return request }
            bytes.append(byte)
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n")
        request.line = lines.first.map(String.init) ?? ""
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            if parts.count == 2 {
                request.headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
            }
        }
        if request.headers["expect"] != nil { write("HTTP/1.1 100 Continue\r\n\r\n", to: connection) }
        let length = request.headers["content-length"].flatMap { Int($0) } ?? 0
        request.body = [UInt8](repeating: 0, count: length)
        if length > 0 { _ = recv(connection, &request.body, length, Int32(MSG_WAITALL)) }
        return request
    }

    private static func write(_ text: String, to connection: Int32) {
        let bytes = Array(text.utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                send(connection, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            sent += count
        }
    }
}
