import Foundation
import Synchronization
import TestSupport

/// A way on which an answer stops in the middle of a job, and then nothing more comes over its connection, as when a line
/// dies without a word.
final class DyingLine: Sendable {
    private struct State {
        var isArmed = false
        var strikes = 0
    }

    private let state = Mutex(State())
    /// Marks the thread that carries a dead connection's answers: each connection has one of its own.
    private let mark: pthread_key_t

    /// Does so to what goes through a proxy, once it is armed.
    init(_ proxy: ChaosProxy) {
        var mark = pthread_key_t()
        pthread_key_create(&mark, nil)
        self.mark = mark
        proxy.spoil { [self] request, answer in delivered(answer, to: request) }
    }

    /// The next answer that brings jobs stops within the first of them.
    func arm() { state.withLock { $0.isArmed = true } }

    /// How often it has happened.
    var strikes: Int { state.withLock(\.strikes) }

    private func delivered(_ answer: [UInt8], to request: ChaosProxy.Request) -> [UInt8]? {
        if pthread_getspecific(mark) != nil { return [] }
        guard ScriptCalls.script(of: request) == "exchange",
            let inside = answer.firstRange(of: Array("\"operation\":".utf8))?.upperBound, strikesNow
        else { return nil }
        pthread_setspecific(mark, UnsafeRawPointer(bitPattern: 1))
        return Array(answer[..<inside])
    }

    private var strikesNow: Bool {
        state.withLock { state in
            guard state.isArmed else { return false }
            state.isArmed = false
            state.strikes += 1
            return true
        }
    }
}
