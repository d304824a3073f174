import Foundation

/// How an operation runs, and how its time is watched.
extension AsyncOperation {
    /// Goes on with the start when the conditions hold.
    final func startClaimed() {
        guard !startsLater else { return }
        attachments?.holdCategories()
        let watch = beginWatch()
        let isOver = run()
        if let watch { endWatch(watch) }
        if isOver { workReturned() }
    }

    /// Runs the work, unless the operation has ended. Returns whether there is work that is over by that.
    private func run() -> Bool {
        notify(.willExecute)
        let progress = membership?.queue.beginProgress(of: self)
        // Afterwards somebody else may take the membership.
        let countingQueue = progress == nil ? nil : membership?.queue
        let before = state.open(isCounted: progress != nil)
        notify(.didExecute)
        if before.ending != nil {
            countingQueue?.endProgress(of: self, hasRun: false)
            if before.contains(.told) { close(membership.take(), isAttended: before.contains(.attended)) }
            return false
        }
        if before.contains(.attended), let attachments = slot.made {
            post(.started, attachments)
            // An observer may have ended it.
            guard ending == nil else { return true }
        }
        if let progress { progress.perform { main() } } else { main() }
        let facts = state.facts
        guard !facts.contains(.inTask) else { return false }
        if facts.ending == nil, !isAsynchronous { finish() }
        return true
    }

    /// Sets the time limit: on the board while this thread is busy with the closure, else as a deadline.
    private func beginWatch() -> Int? {
        guard state.facts.ending == nil, let moment = MonotonicTime.after(timeout) else { return nil }
        due = moment
        let watch = DeadlineTimer.shared.watch(self)
        if watch == nil { deadline.set(DeadlineTimer.shared.schedule(self)) }
        return watch
    }

    /// The closure has returned: if the operation goes on, it needs a deadline from now on.
    private func endWatch(_ watch: Int) {
        guard DeadlineTimer.shared.endWatch(watch, self), !state.facts.contains(.told) else { return }
        deadline.set(DeadlineTimer.shared.schedule(self))
        // It may have ended meanwhile, before there was a deadline to cancel.
        if state.confirm().contains(.told) { deadline.take()?.cancel() }
    }
}

extension AsyncOperation: WatchedTarget {
    package final func deadlineReached() {
        end(.timedOut)
    }
}
