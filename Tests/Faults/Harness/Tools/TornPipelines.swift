import Foundation
import Synchronization
import TestSupport

/// Ways to end a connection in the midst of a pipeline: while answers are awaited to what was sent before.
final class TornPipelines: Sendable {
    /// How it ends.
    enum Way: CaseIterable { case halfARequest, halfAnAnswer }

    private struct State {
        var way: Way?
        var since = ContinuousClock.now
        var strikes = 0
    }

    private let client: String
    private let state = Mutex(State())
    /// Marks the thread that carries a torn connection's answers: each connection has one of its own.
    private let mark: pthread_key_t

    /// Does so to what a client sends to a server through a proxy, whenever it is armed.
    init(_ proxy: ChaosProxy, to server: RedisServer, client: String) {
        self.client = client
        var mark = pthread_key_t()
        pthread_key_create(&mark, nil)
        self.mark = mark
        proxy.treat { [self, unowned proxy] in strikes(.halfARequest, $0, proxy) ? .cutInTheMiddle : .pass }
        proxy.spoil { [self, unowned proxy] request, answer in
            if isTorn {
                // The half has arrived when the next answer comes; that one is lost with the connection.
                proxy.switchOver(to: server)
                return []
            }
            guard strikes(.halfAnAnswer, request, proxy) else { return nil }
            isTorn = true
            return Array(answer.prefix(answer.count / 2))
        }
    }

    /// Whether this thread carries the answers of a torn connection.
    private var isTorn: Bool {
        get { pthread_getspecific(mark) != nil }
        set { pthread_setspecific(mark, UnsafeRawPointer(bitPattern: newValue ? 1 : 0)) }
    }

    /// Tears the connection the next time that there are answers to come.
    func arm(_ way: Way) {
        state.withLock { state in
            state.way = way
            state.since = .now
        }
    }

    /// How often it has happened.
    var strikes: Int { state.withLock(\.strikes) }

    private func strikes(_ way: Way, _ request: ChaosProxy.Request, _ proxy: ChaosProxy) -> Bool {
        let (armed, since) = state.withLock { ($0.way, $0.since) }
        guard armed == way, request.client == client, proxy.awaitsAnswer(client, since: since) else { return false }
        return state.withLock { state in
            guard state.way == way else { return false }
            state.way = nil
            state.strikes += 1
            return true
        }
    }
}

extension ChaosProxy {
    /// Whether there is an answer to come to what a client has sent since then.
    fileprivate func awaitsAnswer(_ client: String, since: ContinuousClock.Instant) -> Bool {
        passages.suffix(100).contains { $0.at >= since && $0.request.client == client && $0.answer.isEmpty }
    }
}
