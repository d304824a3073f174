import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A TCP proxy in front of a redis-server that reads the protocol and can hold bytes back, lose answers, send requests twice,
/// cut connections and hand bytes over one by one. It logs every request with the answer that the server gave.
package final class ChaosProxy: Sendable {
    /// One request on its way to the server.
    package struct Request: Sendable {
        /// What the connection called itself by CLIENT SETNAME.
        package let client: String
        /// The whole request.
        package let bytes: [UInt8]

        /// Whether a text is anywhere in it.
        package func contains(_ text: String) -> Bool { bytes.contains(Array(text.utf8)) }
    }

    /// What is done to a request.
    package enum Treatment: Sendable {
        /// It goes through.
        case pass
        /// It is held back, with all that comes after it on its connection, until `release()`.
        case hold
        /// As `hold`, for every connection.
        case holdAll
        /// It goes through; its answer does not, and the connection is reset.
        case loseAnswer
        /// It goes through twice; the second answer is kept from the client.
        case twice
        /// Its connection is reset after the first half of it went through.
        case cutInTheMiddle
    }

    /// A request that went through, and its answer once there was one.
    package struct Passage: Sendable {
        /// The request.
        package let request: Request
        /// When it went through.
        package let at: ContinuousClock.Instant
        /// What the server answered.
        package var answer: [UInt8] = []

        /// The answer as text.
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
        var spoil: @Sendable (Request, [UInt8]) -> [UInt8]? = { _, _ in nil }
        var spoiledAnswers = 0
        var stalls = 0
    }

    /// Where it listens.
    package let port: Int
    /// Its address as a URL.
    package var url: String { "redis://\(credentials)127.0.0.1:\(port)" }
    private let credentials: String
    private let listener: Int32
    let state: Mutex<State>
    /// Wakes pumps that are held.
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

    /// Ends it and every connection; once, for the listener's number may soon be another descriptor's.
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
                // As if nobody listened: the server is away.
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
    /// Decides over every request from now on; after `release()` whatever was to be held goes through.
    package func treat(_ decide: @escaping @Sendable (Request) -> Treatment) { edit { $0.treat = decide } }

    /// Lets everything go that is held back.
    package func release() {
        edit { state in
            state.holdsAll = false
            state.isReleased = true
        }
    }

    /// Holds back every byte in both directions, or lets them go again. New connections are taken, but hear nothing.
    package func cut(_ isCut: Bool) { edit { $0.isCut = isCut } }

    /// Hands over at most so many bytes at once.
    package func slice(_ bytes: Int) { edit { $0.slice = bytes } }

    /// How many requests have been held back.
    package var heldRequests: Int { state.withLock(\.heldRequests) }

    /// What went through so far.
    package var passages: [Passage] { state.withLock(\.passages) }
}
