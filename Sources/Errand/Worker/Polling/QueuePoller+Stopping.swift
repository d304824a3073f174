import Synchronization

/// Stops a poller's runs.
extension QueuePoller {
    /// Stops the runs that the broker asks to stop.
    func stop(_ stops: [Beat.Stop]) {
        for stop in stops {
            let run = state.withLock { $0.runs[stop.id] }
            if let run, run.token == stop.token { run.stop(.cancelled) }
        }
    }

    /// Stops all runs, or only those that have not begun.
    func stopAll(_ cause: JobRun.StopCause, onlyWaiting: Bool = false) {
        let now = ContinuousClock.now
        for run in state.withLock({ Array($0.runs.values) }) where !onlyWaiting || run.isWaiting(since: now) {
            run.stop(cause)
        }
        wake()
    }

    /// Waits until no run is left. Each of them has the stop grace.
    func stopped() async {
        while !state.withLock({ $0.runs.isEmpty }) { await signal.wait(for: .seconds(1)) }
    }

    /// Releases jobs that have waited too long for a slot.
    func giveBackWaiting() {
        let limit = ContinuousClock.now - context.configuration.longestWait
        let waiting = state.withLock { Array($0.runs.values) }.filter { $0.isWaiting(since: limit) }
        guard !waiting.isEmpty else { return }
        // This precedes the reports, so that the call that releases these jobs does not claim them again.
        slots.budget.stopClaimingAhead()
        for run in waiting { run.stop(.released) }
    }
}
