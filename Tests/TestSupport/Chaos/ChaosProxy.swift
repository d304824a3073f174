import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A TCP proxy in front of a redis-server that parses the protocol. It can hold bytes, lose replies, send requests
/// twice, cut connections and deliver bytes one by one. It records every request with the server's reply.
package final class ChaosProxy: Sendable {
    /// A request to the server.
    package struct Request: Sendable {
        /// The connection's name from CLIENT SETNAME.
        package let client: String
        /// The bytes of the whole request.
        package let bytes: [UInt8]

        /// Returns whether the request contains a text.
        package func contains(_ text: String) -> Bool { bytes.contains(Array(text.utf8)) }
    }

    /// The treatment of a request.
    package enum Treatment: Sendable {
        /// Forwards the request.
        case pass
        /// Holds the request and all later ones of its connection until `release()`.
        case hold
        /// Holds the request and all later ones of every connection until `release()`.
        case holdAll
        /// Forwards the request, but drops the reply and resets the connection.
        case loseAnswer
        /// Forwards the request twice, and drops the second reply.
        case twice
        /// Resets the connection after forwarding the first half of the request.
        case cutInTheMiddle
    }

    /// A forwarded request and its reply.
    package struct Passage: Sendable {
        /// The request.
        package let request: Request
        /// The time at which it was forwarded.
        package let at: ContinuousClock.Instant
        /// The server's reply; empty until it arrives.
        package var answer: [UInt8] = []

        /// The reply as text.
        package var answerText: String { String(decoding: answer, as: UTF8.self) }
    }

    struct State {
        var treat: @Sendable (Request) -> Treatment = { _ in .pass }
        var holdsAll = false
        var isCut = false
        var isReleased = false
        var isOpen = true
        var heldRequests = 0
        var slice = Int.max
        var passages: [Passage] = []
        var links: [ChaosLink] = []
        var upstream: String
        var weather = Weather()
        var corrupt: @Sendable (Request, [UInt8]) -> [UInt8]? = { _, _ in nil }
        var corruptedReplies = 0
        var stalls = 0
    }

    /// The port that the proxy listens on.
    package let port: Int
    /// The proxy's URL, with credentials.
    package var url: String { "redis://\(credentials)127.0.0.1:\(port)" }
    private let credentials: String
    private let listener: Int32
    let state: Mutex<State>
    /// Wakes pumps that wait.
    let change = NSCondition()

    /// Starts a proxy in front of a server's socket.
    package init(to server: RedisServer) throws {
        credentials = server.credentials
        state = Mutex(State(upstream: server.socket))
        (listener, port) = try Sockets.makeListener()
        let thread = Thread { [self] in accept() }
        thread.name = "chaos-proxy"
        thread.start()
    }

    /// Closes the proxy and all connections. Further calls have no effect, because another file may use the listener's
    /// descriptor by then.
    package func close() {
        let links: [ChaosLink]? = edit { state in
            guard state.isOpen else { return nil }
            state.isOpen = false
            defer { state.links = [] }
            return state.links
        }
        guard let links else { return }
        shutdown(listener, Int32(SHUT_RDWR))
        for link in links { link.close() }
    }

    private func accept() {
        while let client = Sockets.nextConnection(of: listener) {
            guard let server = Sockets.makeConnection(to: state.withLock(\.upstream)) else {
                // A reset looks to the client like a server that is down.
                Sockets.reset(client)
                Sockets.shut(client)
                continue
            }
            let link = ChaosLink(client: client, server: server, proxy: self)
            edit { $0.links.append(link) }
            link.start()
        }
        Sockets.shut(listener)
    }

    @discardableResult
    func edit<Value>(_ body: (inout State) -> Value) -> Value {
        change.lock()
        defer {
            change.broadcast()
            change.unlock()
        }
        return state.withLock { body(&$0) }
    }

    func forget(_ link: ChaosLink) { edit { state in state.links.removeAll { $0 === link } } }
}

extension ChaosProxy {
    /// Sets the function that decides about every further request. After `release()`, requests are no longer held.
    package func treat(_ decide: @escaping @Sendable (Request) -> Treatment) { edit { $0.treat = decide } }

    /// Forwards everything that is held.
    package func release() {
        edit { state in
            state.holdsAll = false
            state.isReleased = true
        }
    }

    /// Holds every byte in both directions, or stops holding. New connections are accepted, but receive nothing.
    package func cut(_ isCut: Bool) { edit { $0.isCut = isCut } }

    /// Delivers at most this number of bytes at once.
    package func slice(_ bytes: Int) { edit { $0.slice = bytes } }

    /// The number of requests that have been held.
    package var heldRequests: Int { state.withLock(\.heldRequests) }

    /// The forwarded requests so far.
    package var passages: [Passage] { state.withLock(\.passages) }
}
