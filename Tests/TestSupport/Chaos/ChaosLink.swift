import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// One connection through the proxy, with one thread for each direction.
final class ChaosLink: Sendable {
    /// The treatment of the server's next reply.
    private enum Fate { case deliver, swallow, lose }

    private struct Expected {
        let passage: Int?
        let fate: Fate
    }

    private struct State {
        var name = ""
        var expected: [Expected] = []
        var endedPumps = 0
    }

    private let client: Int32
    private let server: Int32
    private let proxy: ChaosProxy
    private let state = Mutex(State())

    init(client: Int32, server: Int32, proxy: ChaosProxy) {
        self.client = client
        self.server = server
        self.proxy = proxy
    }

    func start() {
        Thread { [self] in pumpUp() }.start()
        Thread { [self] in pumpDown() }.start()
    }

    func close() { end(byReset: false) }

    /// Ends the connection with a reset, as if a router had forgotten it.
    func reset() { end(byReset: true) }

    private func end(byReset isReset: Bool) {
        state.withLock { state in
            // Once both pumps have ended, other files may use these descriptors.
            guard state.endedPumps < 2 else { return }
            if isReset { Sockets.reset(client) }
            shutdown(client, Int32(SHUT_RDWR))
            shutdown(server, Int32(SHUT_RDWR))
        }
    }

    // MARK: To the server

    private func pumpUp() {
        pump(from: client) { frame in up(frame) }
        // The server receives all bytes that the client has written, and then the end.
        shutdown(server, Int32(SHUT_WR))
        ended()
    }

    /// Handles a request and returns whether the connection continues.
    private func up(_ bytes: [UInt8]) -> Bool {
        note(bytes)
        let request = ChaosProxy.Request(client: state.withLock(\.name), bytes: bytes)
        let treatment = proxy.state.withLock(\.treat)(request)
        switch treatment {
        case .hold, .holdAll: waitForRelease(all: treatment == .holdAll)
        default: break
        }
        waitWhile { $0.isCut || $0.holdsAll }
        // Bytes that are held when the proxy is closed never arrive.
        guard proxy.state.withLock(\.isOpen) else { return false }
        if treatment == .cutInTheMiddle {
            _ = Sockets.put(Array(bytes.prefix(bytes.count / 2)), into: server)
            reset()
            return false
        }
        let passage = proxy.edit { proxy in
            proxy.passages.append(.init(request: request, at: .now))
            return proxy.passages.count - 1
        }
        state.withLock {
            $0.expected.append(Expected(passage: passage, fate: treatment == .loseAnswer ? .lose : .deliver))
        }
        guard treatment == .twice else { return Sockets.put(bytes, into: server) }
        state.withLock { $0.expected.append(Expected(passage: nil, fate: .swallow)) }
        return Sockets.put(bytes + bytes, into: server)
    }

    private func note(_ bytes: [UInt8]) {
        let words = RESPFrame.words(of: bytes).prefix(3).map { String(decoding: $0.prefix(128), as: UTF8.self) }
        if words.count == 3, words[0] == "CLIENT", words[1] == "SETNAME" { state.withLock { $0.name = words[2] } }
    }

    private func waitForRelease(all: Bool) {
        proxy.edit { state in
            state.heldRequests += 1
            if all, !state.isReleased { state.holdsAll = true }
        }
        waitWhile { !$0.isReleased }
    }

    private func waitWhile(_ holds: (ChaosProxy.State) -> Bool) {
        proxy.change.lock()
        while proxy.state.withLock({ $0.isOpen && holds($0) }) { proxy.change.wait() }
        proxy.change.unlock()
    }

    // MARK: To the client

    private func pumpDown() {
        pump(from: server) { frame in down(frame) }
        shutdown(client, Int32(SHUT_RDWR))
        ended()
    }

    private func down(_ bytes: [UInt8]) -> Bool {
        let next = state.withLock { $0.expected.isEmpty ? nil : $0.expected.removeFirst() }
        if let passage = next?.passage { proxy.edit { $0.passages[passage].answer = bytes } }
        waitWhile(\.isCut)
        switch next?.fate ?? .deliver {
        case .swallow: return true
        case .lose:
            reset()
            return false
        case .deliver:
            let answer = proxy.corrupted(bytes, of: next?.passage)
            // If the client has disconnected, continue to read the server's replies.
            _ = Sockets.put(answer, into: client, slice: proxy.state.withLock(\.slice))
            return true
        }
    }

    // MARK: Both

    private func pump(from source: Int32, _ take: ([UInt8]) -> Bool) {
        var pending: [UInt8] = []
        while let chunk = Sockets.arrived(at: source) {
            proxy.weather(on: chunk.count)
            pending += chunk
            var start = 0
            while let end = RESPFrame.end(of: pending, from: start) {
                guard take(Array(pending[start..<end])) else { return }
                start = end
            }
            pending.removeFirst(start)
        }
    }

    private func ended() {
        let isLast = state.withLock { state in
            state.endedPumps += 1
            guard state.endedPumps == 2 else { return false }
            Sockets.shut(client)
            Sockets.shut(server)
            return true
        }
        if isLast { proxy.forget(self) }
    }
}
