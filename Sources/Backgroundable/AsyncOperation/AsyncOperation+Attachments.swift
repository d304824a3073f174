import Foundation

/// How an operation with attachments ends.
extension AsyncOperation {
    /// The attachments, if there are any.
    final var attachments: Attachments? {
        state.facts.contains(.hasAttachments) ? slot.made : nil
    }

    /// Marks the operation as having attachments. Returns them and the facts from before the call. If the operation was
    /// already closing then, it ignores the attachments.
    final func attach() -> (Attachments, AsyncOperationState.Facts) {
        let attachments = slot.make()
        return (attachments, state.attend())
    }

    /// Carries out a decided ending: stores the errors, cancels the task, leaves the wait queues of exclusive
    /// categories and notifies the observers.
    final func conclude(
        _ attachments: Attachments,
        _ ending: AsyncOperationEnding,
        errors: [any Error],
        hadStarted: Bool
    ) {
        let task = attachments.state.withLock { state in
            state.errors = errors
            return state.task.take()
        }
        switch ending {
        case .finished: break
        // Cancellation handlers run user code, which must not delay other deadlines.
        case .timedOut: if let task { DispatchQueue.global().async { task.cancel() } }
        case .cancelled: task?.cancel()
        }
        if !hadStarted {
            // A queue may be about to store a stale "not ready", and would miss a single notification.
            if attachments.evaluation.leaveLines() { ReadinessNotifier.ring(self) }
            if ending == .finished { notify(.ready) }
        }
        attachments.state.withLock { state in
            // The thread that started the operation may not have posted this yet.
            if hadStarted { state.mail.post(.started) }
            if let milestone = ending.milestone { state.mail.post(milestone) }
        }
        if ending == .cancelled { deliverMail(attachments) }
    }

    /// Notifies the observers that the operation has finished, then finishes it. After a timeout it finishes first,
    /// because other deadlines wait for the timer's thread.
    final func closeAttended(_ attachments: Attachments, _ membership: QueueRegistration?) {
        if ending == .timedOut {
            finishAttended(attachments, membership)
            attachments.state.withLock { postAll(&$0.mail) }
            DispatchQueue.global().async { self.deliverMail(attachments) }
        } else {
            attachments.state.withLock { state in
                postAll(&state.mail)
                state.mail.close { self.finishAttended(attachments, membership) }
            }
            deliverMail(attachments)
        }
    }

    /// The thread that attached the first observer after the ending may not have posted the earlier events yet.
    private func postAll(_ mail: inout ObserverQueue) {
        let facts = state.facts
        if facts.contains(.ran) { mail.post(.started) }
        if let milestone = facts.ending?.milestone { mail.post(milestone) }
        mail.post(.finished)
    }

    private func finishAttended(_ attachments: Attachments, _ membership: QueueRegistration?) {
        state.announce()
        attachments.evaluation.leaveLines()
        let facts = state.facts
        attachments.finishHolding(closureRuns: facts.contains(.overran) && !facts.contains(.returned))
        leave(membership)
    }
}
