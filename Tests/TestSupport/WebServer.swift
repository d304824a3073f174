import Foundation
import Synchronization

/// A web server on the loopback interface that records requests and sends the test's responses.
package final class WebServer: Sendable {
    /// A request of one connection.
    package struct Request: Sendable {
        package var line = ""
        package var headers: [String: String] = [:]
        package var body: [UInt8] = []
    }

    fileprivate final class Received: Sendable {
        private let requests = Mutex<[Request]>([])
        let abandoned = Atomic(0)
        let connections = Atomic(0)

        var all: [Request] { requests.withLock(\.self) }

        func append(_ request: Request) {
            requests.withLock { $0.append(request) }
        }
    }

    package let port: UInt16
    private let listener: Int32
    private let received = Received()

    /// Starts a server. `answer` returns the whole response to a request, or `nil` for none.
    ///
    /// - Parameter thenWaits: Whether the client, not the server, closes a connection after a response.
    package convenience init(thenWaits: Bool = false, answer: @escaping @Sendable (Request) -> String?) throws {
        try self.init { connection in
            guard let request = connection.readRequest() else { return }
            let text = answer(request)
            if let text { connection.send(text) }
            if thenWaits || text == nil { connection.waitForEnd() }
        }
    }

    /// Starts a server that runs `serve` for each connection, on a thread of its own, and then closes the connection.
    package init(ipv6: Bool = false, serve: @escaping @Sendable (WebConnection) -> Void) throws {
        (listener, port) = try ipv6 ? Self.listenOnIPv6() : Self.listen()
        Thread.detachNewThread { [received, listener] in
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else {
                    if errno == EINTR || errno == ECONNABORTED { continue }
                    // Only this thread closes the listener. Otherwise the next server could get the same descriptor
                    // while it is still used here.
                    close(listener)
                    return
                }
                received.connections.add(1, ordering: .relaxed)
                Thread.detachNewThread {
                    serve(WebConnection(descriptor, received))
                    close(descriptor)
                }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
    }

    private static func listen() throws -> (Int32, port: UInt16) {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let listener = try listen(AF_INET, &address)
        return (listener, UInt16(bigEndian: address.sin_port))
    }

    private static func listenOnIPv6() throws -> (Int32, port: UInt16) {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_addr = in6addr_loopback
        let listener = try listen(AF_INET6, &address)
        return (listener, UInt16(bigEndian: address.sin6_port))
    }

    private static func listen<Address>(_ family: Int32, _ address: inout Address) throws -> Int32 {
        let listener = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        var length = socklen_t(MemoryLayout<Address>.size)
        let error = withUnsafeMutableBytes(of: &address) { bytes in
            guard let address = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self) else { return true }
            return bind(listener, address, length) != 0 || Foundation.listen(listener, 16) != 0
                || getsockname(listener, address, &length) != 0
        }
        guard !error else { throw TestFailure("no server: \(errno)") }
        return listener
    }

    package var url: String { "http://127.0.0.1:\(port)" }
    package var requests: [Request] { received.all }
    /// The number of connections that the client has closed.
    package var abandoned: Int { received.abandoned.load(ordering: .relaxed) }

    /// The number of connections so far.
    package var connections: Int { received.connections.load(ordering: .relaxed) }

    /// Makes a response with a status, header fields and a body.
    package static func answer(_ status: Int, _ headers: [String: String] = [:], _ body: String = "") -> String {
        let fields = headers.merging(["Content-Length": "\(body.utf8.count)", "Connection": "close"]) { own, _ in own }
        return "HTTP/1.1 \(status) Status\r\n" + fields.map { "\($0): \($1)\r\n" }.joined() + "\r\n" + body
    }
}

/// A connection of a ``WebServer``.
package struct WebConnection: Sendable {
    private let descriptor: Int32
    private let received: WebServer.Received

    fileprivate init(_ descriptor: Int32, _ received: WebServer.Received) {
        self.descriptor = descriptor
        self.received = received
    }

    /// The number of requests that the server has read, over all connections.
    package var requestsOfServer: Int { received.all.count }

    /// Waits for the next request; returns `nil` if the client has closed the connection.
    package func readRequest() -> WebServer.Request? {
        var bytes: [UInt8] = []
        var request = WebServer.Request()
        let end = Array("\r\n\r\n".utf8)
        while !bytes.suffix(4).elementsEqual(end) {
            var byte: UInt8 = 0
            guard recv(descriptor, &byte, 1, 0) == 1 else { return nil }
            bytes.append(byte)
        }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\r\n")
        request.line = lines.first.map(String.init) ?? ""
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 {
                request.headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
            }
        }
        if request.headers["expect"] != nil { send("HTTP/1.1 100 Continue\r\n\r\n") }
        let length = request.headers["content-length"].flatMap { Int($0) } ?? 0
        request.body = [UInt8](repeating: 0, count: length)
        if length > 0 { _ = recv(descriptor, &request.body, length, Int32(MSG_WAITALL)) }
        received.append(request)
        return request
    }

    /// Sends a text and returns whether the client accepts it.
    @discardableResult package func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Sends bytes and returns whether the client accepts them.
    @discardableResult package func send(_ bytes: [UInt8]) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { bytes in
                Foundation.send(
                    descriptor,
                    bytes.baseAddress.map { $0 + sent },
                    bytes.count - sent,
                    Int32(MSG_NOSIGNAL)
                )
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    /// Waits until the client closes the connection.
    package func waitForEnd() {
        var byte: UInt8 = 0
        while recv(descriptor, &byte, 1, 0) > 0 {}
        received.abandoned.add(1, ordering: .relaxed)
    }

    /// Closes the sending direction; the connection can still receive.
    package func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Makes the connection end with a reset instead of an orderly close.
    package func resetAtEnd() {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    }
}
