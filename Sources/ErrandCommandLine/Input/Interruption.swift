import Errand
import Foundation
import Synchronization

/// The wish of a person or a supervisor that a command ends: SIGINT or SIGTERM.
///
/// A command that has not ended two seconds later, perhaps because nothing reads its output, is ended by the signal; a
/// second signal, at least 500 ms after the first, ends it at once.
package struct Interruption: Sendable {
    private static let longestEnd = 2.0

    /// Yields the first of the signals.
    package let signals: AsyncStream<Int32>

    /// Catches the signals from now on.
    package init() {
        let (stream, continuation) = AsyncStream.makeStream(of: Int32.self)
        signals = stream
        let requests = Mutex(StopRequests())
        CaughtSignals.take([SIGINT, SIGTERM]) { number in
            switch requests.withLock({ $0.take() }) {
            case .graceful:
                continuation.yield(number)
                DispatchQueue.global().asyncAfter(deadline: .now() + Self.longestEnd) { Self.end(by: number) }
            case .immediate: Self.end(by: number)
            case nil: break
            }
        }
    }

    private static func end(by number: Int32) {
        signal(number, SIG_DFL)
        kill(getpid(), number)
    }
}
