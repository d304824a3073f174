import Errand
import Foundation
import Synchronization

/// A request by a person or a supervisor to end a command: SIGINT or SIGTERM.
///
/// If the command has not ended two seconds later, perhaps because no process reads its output, the signal ends it. A
/// second signal, at least 500 ms after the first, ends it at once.
package struct Interruption: Sendable {
    private static let longestEnd = 2.0

    /// Yields the first of the signals.
    package let signals: AsyncStream<Int32>

    /// Starts to catch the signals.
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
