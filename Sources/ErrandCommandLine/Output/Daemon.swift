import ErrandOperator
import Foundation
import Logging
import Synchronization

/// A process that serves until it is stopped. Its signals, heartbeats and shutdown must not wait for a reader of its
/// output.
package enum Daemon {
    private static let hasBegun = Atomic(false)
    private static let longestFlush = 0.5

    static let standardError = OutputQueue(to: .standardError) { count in
        Array(
            StandardError.line("warning: \(count.counted("line")) dropped: nothing read standard error", as: .warning)
                .utf8
        )
    }
    static let standardOutput = OutputQueue(to: .standardOutput) { count in
        Array(#"{"event":"dropped","lines":\#(count),"message":"nothing read standard output"}\#("\n")"#.utf8)
    }

    static var isOne: Bool { hasBegun.load(ordering: .relaxed) }

    /// Makes this process a daemon: its output waits in memory, is dropped beyond a mebibyte, and gets half a second at
    /// the exit. Signals that would end the process by default, and have no meaning for a daemon, are ignored.
    package static func begin() {
        // A failed write returns an error. USR1 and USR2 are for daemons that reopen their logs.
        for number in [SIGPIPE, SIGXFSZ, SIGUSR1, SIGUSR2] { signal(number, SIG_IGN) }
        hasBegun.store(true, ordering: .relaxed)
        atexit { Daemon.flush() }
    }

    /// Waits until all lines are written, for at most half a second.
    private static func flush() {
        let deadline = DispatchTime.now() + longestFlush
        for mark in [standardError.mark(), standardOutput.mark()] { _ = mark.wait(timeout: deadline) }
    }
}
