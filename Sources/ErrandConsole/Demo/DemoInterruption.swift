import ErrandCommandLine
import Foundation
import Synchronization

/// A trap for signals that cancels the demo's work, so that it can clean up.
///
/// Later signals have no effect, because the cleanup takes at most a few seconds.
final class DemoInterruption: Sendable {
    private let first = Mutex<Int32?>(nil)

    /// The exit status for the signal; `nil` if there was none.
    var exitStatus: Int32? { first.withLock { $0 }.map { 128 + $0 } }

    /// Runs `work` in a task that SIGINT, SIGTERM, SIGHUP and SIGQUIT cancel.
    func cancels<Value: Sendable>(_ work: @escaping @Sendable () async throws -> Value) async throws -> Value {
        let (signals, continuation) = AsyncStream.makeStream(of: Int32.self)
        CaughtSignals.take([SIGINT, SIGTERM, SIGHUP, SIGQUIT]) { continuation.yield($0) }
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
