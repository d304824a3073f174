import Foundation

/// What conditions had begun that are called off.
struct CancelledConditionWork {
    /// Unfinished operations that conditions wait for.
    var helpers: [Operation] = []
    var actions: [@Sendable () -> Void] = []

    /// Stops all of it; no operation begins because another one was cancelled before it.
    func stop(in queue: BackgroundQueue) {
        if !helpers.isEmpty { CancellationSweep.cancel(helpers, of: queue) }
        for action in actions { action() }
    }
}
