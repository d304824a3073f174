import Synchronization
import UnixSignals

/// Turns a signal that asks the demo to end into the cancellation of its work, so that it can tidy up.
///
/// Later signals change nothing: tidying up takes seconds at the most.
final class DemoInterruption: Sendable {
    private let first = Mutex<UnixSignal?>(nil)

    /// The exit status of a command that a signal ended; `nil` when none came.
    var exitStatus: Int32? { first.withLock { $0 }.map { 128 + $0.rawValue } }

    /// Runs `work` in a task that SIGINT, SIGTERM, SIGHUP and SIGQUIT cancel.
    func cancels<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm, .sighup, .sigquit)
        let working = Task { try await work() }
        let listening = Task {
            for await signal in signals {
                first.withLock { $0 = $0 ?? signal }
                working.cancel()
            }
        }
        defer { listening.cancel() }
        return try await working.value
    }
}
