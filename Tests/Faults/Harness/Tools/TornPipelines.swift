import Foundation
import Synchronization
import TestSupport

/// Ways to break a connection within a pipeline, while replies to earlier calls are awaited.
final class TornPipelines: Sendable {
    /// The way in which it breaks.
    enum Way: CaseIterable { case halfARequest, halfAnAnswer }

    private struct State {
        var way: Way?
        var since = ContinuousClock.now
        var injections = 0
    }

    private let client: String
    private let state = Mutex(State())
    /// Marks the thread with a broken connection's replies; each connection has its own thread.
    private let mark: pthread_key_t

    /// Installs itself in a proxy, and breaks a connection whenever it is armed.
    init(_ proxy: ChaosProxy, to server: RedisServer, client: String) {
        self.client = client
        var mark = pthread_key_t()
        pthread_key_create(&mark, nil)
        self.mark = mark
        proxy.treat { [self, unowned proxy] in injects(.halfARequest, $0, proxy) ? .cutInTheMiddle : .pass }
        proxy.corrupt { [self, unowned proxy] request, answer in
            if isTorn {
                // The half has arrived when the next reply comes, which is lost with the connection.
                proxy.switchOver(to: server)
                return []
            }
            guard injects(.halfAnAnswer, request, proxy) else { return nil }
            isTorn = true
            return Array(answer.prefix(answer.count / 2))
        }
    }

    /// Whether this thread has the replies of a broken connection.
    private var isTorn: Bool {
        get { pthread_getspecific(mark) != nil }
        set { pthread_setspecific(mark, UnsafeRawPointer(bitPattern: newValue ? 1 : 0)) }
    }

    /// Breaks the connection the next time that replies are awaited.
    func arm(_ way: Way) {
        state.withLock { state in
            state.way = way
            state.since = .now
        }
    }

    /// The number of stopped replies.
    var injections: Int { state.withLock(\.injections) }

    private func injects(_ way: Way, _ request: ChaosProxy.Request, _ proxy: ChaosProxy) -> Bool {
        let (armed, since) = state.withLock { ($0.way, $0.since) }
        guard armed == way, request.client == client, proxy.awaitsAnswer(client, since: since) else { return false }
        return state.withLock { state in
            guard state.way == way else { return false }
            state.way = nil
            state.injections += 1
            return true
        }
    }
}

extension ChaosProxy {
    /// Whether a reply to a later request of the client is awaited.
    fileprivate func awaitsAnswer(_ client: String, since: ContinuousClock.Instant) -> Bool {
        passages.suffix(100).contains { $0.at >= since && $0.request.client == client && $0.answer.isEmpty }
    }
}
