import Foundation

/// How an operation ends.
extension AsyncOperation {
    /// Ends the operation, unless it has ended already.
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
        if before.contains(.attended), let attachments = slot.made {
            conclude(attachments, ending, errors: errors, hadStarted: before.contains(.ran))
        }
        if ending == .cancelled {
            // Foundation's own flag: it lets an operation that waits for others start, and so leave.
            super.cancel()
        }
        // Until the owner has been told nobody else touches what an operation has that was not started.
        if !before.contains(.opened) { letGoOfWork() }
        if !waitsForParts(ending) { tellOwner() }
        if !before.contains(.opened) { resumeWaitsIfUnused() }
        if ending == .timedOut { callBack(callback) }
    }

    /// Lets the user's code know of the timeout. Nobody overrides ``didTimeOut()`` in this class itself.
    private func callBack(_ callback: Closure?) {
        guard callback != nil || type(of: self) != AsyncOperation.self else { return }
        OperationQueue.background.addOperation {
            self.didTimeOut()
            callback?(self)
        }
    }

    /// Decides that the operation is cancelled if it has not started: it will not, and the next call of ``cancel()`` does
    /// the rest. Calls nobody, so several operations can be decided on before the first of them is seen to end.
    final func reserveCancellation() -> Bool {
        state.reserveCancellation()
    }

    private func reservation(for ending: AsyncOperationEnding) -> AsyncOperationState.Facts? {
        ending == .cancelled ? state.takeReservation() : nil
    }

    /// The ending is carried out: closes the operation if it has been opened.
    final func tellOwner() {
        let overran = state.facts.contains(.overran)
        let shared = overran ? membership : nil
        let told = state.tell()
        guard told.contains(.opened) else { return }
        let isAttended = told.contains(.attended)
        guard overran else { return close(membership.take(), isAttended: isAttended) }
        if told.contains(.returned) { membership = nil }
        close(shared, isAttended: isAttended)
    }

    /// The closure's work is over, whatever became of the operation.
    final func workReturned() {
        guard state.leaveClosure().isOverrun else { return }
        membership?.queue.closureReturned()
        guard state.noteReturn().contains(.told) else { return }
        membership = nil
        attachments?.letGoOfCategories()
    }

    /// The operation has ended and its closure has not been called: it will not be.
    private func letGoOfWork() {
        if let closure = closure.take() { release(closure) }
        letGo()
    }

    /// The last step, taken exactly once: `isFinished` becomes true, and everything that waits for the operation goes on.
    final func close(_ membership: consuming QueueRegistration?, isAttended: Bool) {
        deadline.take()?.cancel()
        if !state.facts.contains(.called), let closure = closure.take() { release(closure) }
        if isAttended, let attachments = slot.made {
            closeAttended(attachments, membership)
        } else {
            leave(membership)
        }
    }

    /// The operation leaves its queue, and those who wait for it.
    final func leave(_ membership: QueueRegistration?) {
        let facts = state.facts
        if !facts.contains(.ran) { forgetUnfinishedDependencies() }
        if facts.contains(.counted) { membership?.queue.endProgress(of: self, hasRun: true) }
        letGo()
        notify(.finished)
        #if !canImport(ObjectiveC)
            if facts.contains(.completes) { letGoOfCompletion() }
        #endif
        membership?.end(mayBlock: ending != .timedOut)
    }
}
