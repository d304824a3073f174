import Foundation
import Synchronization
import TestSupport

/// A connection whose reply stops in the middle of a job, without further bytes, like a connection that
/// dies silently.
final class DyingConnection: Sendable {
    private struct State {
        var isArmed = false
        var injections = 0
    }

    private let state = Mutex(State())
    /// Marks the thread with a dead connection's replies; each connection has its own thread.
    private let mark: pthread_key_t

    /// Installs itself in a proxy, inactive until it is armed.
    init(_ proxy: ChaosProxy) {
        var mark = pthread_key_t()
        pthread_key_create(&mark, nil)
        self.mark = mark
        proxy.corrupt { [self] request, answer in delivered(answer, to: request) }
    }

    /// Stops the next reply with jobs within the first job.
    func arm() { state.withLock { $0.isArmed = true } }

    /// The number of stopped replies.
    var injections: Int { state.withLock(\.injections) }

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
            state.injections += 1
            return true
        }
    }
}
