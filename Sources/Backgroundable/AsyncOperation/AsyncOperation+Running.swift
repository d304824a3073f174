import Foundation

/// How an operation runs, and how its timeout is enforced.
extension AsyncOperation {
    /// Continues the start once the conditions hold.
    final func startClaimed() {
        guard !startsLater else { return }
        attachments?.holdCategories()
        let watch = beginWatch()
        let isOver = run()
        if let watch { endWatch(watch) }
        if isOver { workReturned() }
    }

    /// Runs the work, unless the operation has ended. Returns whether the work ran and has returned.
    private func run() -> Bool {
        notify(.willExecute)
        let progress = membership?.queue.beginProgress(of: self)
        // After `open`, another thread may take the registration.
        let countingQueue = progress == nil ? nil : membership?.queue
        let before = state.open(isCounted: progress != nil)
        notify(.didExecute)
        if before.ending != nil {
            countingQueue?.endProgress(of: self, hasRun: false)
            if before.contains(.endReported) {
                close(membership.take(), hasAttachments: before.contains(.hasAttachments))
            }
            return false
        }
        if before.contains(.hasAttachments), let attachments = slot.made {
            post(.started, attachments)
            // An observer may have ended the operation.
            guard ending == nil else { return true }
        }
        if let progress { progress.perform { main() } } else { main() }
        let facts = state.facts
        guard !facts.contains(.inTask) else { return false }
        if facts.ending == nil, !isAsynchronous { finish() }
        return true
    }

    /// Starts the timeout: in the table of running closures while this thread runs the closure, otherwise as a
    /// deadline.
    private func beginWatch() -> Int? {
        guard state.facts.ending == nil, let moment = MonotonicTime.after(timeout) else { return nil }
        due = moment
        let watch = DeadlineTimer.shared.watch(self)
        if watch == nil { deadline.set(DeadlineTimer.shared.schedule(self)) }
        return watch
    }

    /// Schedules a deadline if the operation continues after its closure has returned.
    private func endWatch(_ watch: Int) {
        guard DeadlineTimer.shared.endWatch(watch, self), !state.facts.contains(.endReported) else { return }
        deadline.set(DeadlineTimer.shared.schedule(self))
        // The operation may have ended before there was a deadline to cancel.
        if state.confirm().contains(.endReported) { deadline.take()?.cancel() }
    }
}

extension AsyncOperation: WatchedTarget {
    package final func deadlineReached() {
        end(.timedOut)
    }
}
