import Foundation

/// How an operation that has attachments ends.
extension AsyncOperation {
    /// What is attached, if anything is.
    final var attachments: Attachments? {
        state.facts.contains(.attended) ? slot.made : nil
    }

    /// Makes sure that the operation looks after its attachments. Returns them, and what had happened before: if it was
    /// closing then, it does not.
    final func attach() -> (Attachments, AsyncOperationState.Facts) {
        let attachments = slot.make()
        return (attachments, state.attend())
    }

    /// The ending has been decided: keeps the errors, stops the task, leaves the line of an exclusive category and
    /// tells the observers.
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
        // What the task has done when it is cancelled is not ours: it must not hold up other deadlines.
        case .timedOut: if let task { DispatchQueue.global().async { task.cancel() } }
        case .cancelled: task?.cancel()
        }
        if !hadStarted {
            // A queue may just be keeping the answer that it is not ready: one notice would be lost.
            if attachments.evaluation.leaveLines() { ReadinessNotifier.ring(self) }
            if ending == .finished { notify(.ready) }
        }
        attachments.state.withLock { state in
            // The thread that started it may not have come to say so.
            if hadStarted { state.mail.post(.started) }
            if let milestone = ending.milestone { state.mail.post(milestone) }
        }
        if ending == .cancelled { deliverMail(attachments) }
    }

    /// Tells the observers that it has finished, then finishes it; after a timeout the other way round, because that
    /// comes on a thread which others wait for.
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

    /// Whoever attached the first observer after the ending was decided may not have come to say what was before it.
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
