import Foundation

/// The work that conditions have begun and that is to be cancelled.
struct CancelledConditionWork {
    /// Unfinished operations that conditions wait for.
    var helpers: [Operation] = []
    var actions: [@Sendable () -> Void] = []

    /// Cancels all of it. No operation starts because another one was cancelled before it.
    func stop(in queue: BackgroundQueue) {
        if !helpers.isEmpty { CancellationSweep.cancel(helpers, of: queue) }
        for action in actions { action() }
    }
}
