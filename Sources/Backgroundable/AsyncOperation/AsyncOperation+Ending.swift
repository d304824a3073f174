import Foundation

/// How an operation ends.
extension AsyncOperation {
    /// Ends the operation. Does nothing if it has already ended.
    final func end(_ ending: AsyncOperationEnding, errors: [any Error] = []) {
        if !errors.isEmpty { _ = attach() }
        guard let before = state.decide(ending) ?? reservation(for: ending) else {
            if ending == .timedOut { timeIsOver() }
            return
        }
        let callback = onTimeoutCallback.take()
        if ending != .finished && before.contains(.inClosure) {
            membership?.queue.closureOverruns()
        }
        onEnd?(self, ending)
        onEnd = nil
        endParts(ending)
        if before.contains(.hasAttachments), let attachments = slot.made {
            conclude(attachments, ending, errors: errors, hadStarted: before.contains(.ran))
        }
        if ending == .cancelled {
            // Foundation's own flag lets an operation with unfinished dependencies start, and so leave its queue.
            super.cancel()
        }
        // Until the end is reported, only this thread accesses the properties of an operation that has not started.
        if !before.contains(.opened) { letGoOfWork() }
        if !waitsForParts(ending) { reportEnd() }
        if !before.contains(.opened) { resumeWaitsIfUnused() }
        if ending == .timedOut { callBack(callback) }
    }

    /// Calls the user's code for a timeout. ``didTimeOut()`` of this class itself does nothing, so it is not called.
    private func callBack(_ callback: Closure?) {
        guard callback != nil || type(of: self) != AsyncOperation.self else { return }
        OperationQueue.background.addOperation {
            self.didTimeOut()
            callback?(self)
        }
    }

    /// Decides that an operation that has not started is cancelled; the next call of ``cancel()`` carries it out.
    ///
    /// It calls no other code. A caller can therefore reserve the cancellation of several operations before the first
    /// ends.
    final func reserveCancellation() -> Bool {
        state.reserveCancellation()
    }

    private func reservation(for ending: AsyncOperationEnding) -> AsyncOperationState.Facts? {
        ending == .cancelled ? state.takeReservation() : nil
    }

    /// Reports that the ending has been carried out, and closes the operation if it has been opened.
    final func reportEnd() {
        let overran = state.facts.contains(.overran)
        let shared = overran ? membership : nil
        let before = state.reportEnd()
        guard before.contains(.opened) else { return }
        let hasAttachments = before.contains(.hasAttachments)
        guard overran else { return close(membership.take(), hasAttachments: hasAttachments) }
        if before.contains(.returned) { membership = nil }
        close(shared, hasAttachments: hasAttachments)
    }

    /// Notes that the closure or task has returned, however the operation ended.
    final func workReturned() {
        guard state.leaveClosure().isOverrun else { return }
        membership?.queue.closureReturned()
        guard state.noteReturn().contains(.endReported) else { return }
        membership = nil
        attachments?.letGoOfCategories()
    }

    /// Releases the closure of an operation that ended before it started.
    private func letGoOfWork() {
        if let closure = closure.take() { release(closure) }
        letGo()
    }

    /// Sets `isFinished` and notifies everything that waits for the operation. This is the last step and runs exactly
    /// once.
    final func close(_ membership: consuming QueueRegistration?, hasAttachments: Bool) {
        deadline.take()?.cancel()
        if !state.facts.contains(.called), let closure = closure.take() { release(closure) }
        if hasAttachments, let attachments = slot.made {
            closeAttended(attachments, membership)
        } else {
            leave(membership)
        }
    }

    /// Removes the operation from its queue and notifies its dependents.
    final func leave(_ membership: QueueRegistration?) {
        let facts = state.facts
        if !facts.contains(.ran) { forgetUnfinishedDependencies() }
        if facts.contains(.counted) { membership?.queue.endProgress(of: self, hasRun: true) }
        letGo()
        notify(.finished)
        membership?.end(mayBlock: ending != .timedOut)
    }
}
