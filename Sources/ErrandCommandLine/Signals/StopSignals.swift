package import Errand
import Foundation
import Synchronization

/// The signals that ask a daemon to stop.
///
/// | signal | meaning |
/// |---|---|
/// | SIGTERM, SIGINT | stop gracefully; again, at least 500 ms after the first: stop at once |
/// | SIGHUP | stop gracefully, unless it was ignored at the start (`nohup`) |
/// | SIGQUIT | stop at once, unless it was ignored at the start |
package enum StopSignals {
    /// Starts to catch these signals.
    ///
    /// - Parameter act: The action for a request, with the signal's number, on a thread that is never blocked.
    package static func listen(_ act: @escaping @Sendable (StopRequests.Request, _ signal: Int32) -> Void) {
        let requests = Mutex(StopRequests())
        CaughtSignals.take([SIGTERM, SIGINT]) { number in
            if let request = requests.withLock({ $0.take() }) { act(request, number) }
        }
        for (number, request) in [(SIGHUP, StopRequests.Request.graceful), (SIGQUIT, .immediate)]
        where !CaughtSignals.isIgnored(number) {
            CaughtSignals.take([number]) { act(request, $0) }
        }
    }
}
