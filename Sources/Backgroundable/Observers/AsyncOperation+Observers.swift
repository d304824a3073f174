import Foundation

extension AsyncOperation {
    /// Adds an observer. Any number of observers can be added, at any time; a late observer is immediately called for
    /// past events.
    ///
    /// - Returns: This operation, so that calls can be chained.
    @discardableResult
    public final func addObserver(_ observer: some OperationObserver) -> Self {
        let (attachments, facts) = attach()
        attachments.state.withLock { state in
            if facts.contains(.ran) { state.mail.post(.started) }
            if let milestone = facts.ending?.milestone { state.mail.post(milestone) }
            if facts.isClosing { state.mail.post(.finished) }
            state.mail.add(observer)
        }
        deliverMail(attachments)
        return self
    }

    /// Calls a block with the operation's errors when the operation has finished.
    @discardableResult
    public final func addFinishedBlock(
        _ block: @escaping @Sendable (AsyncOperation, [any Error]) -> Void
    ) -> Self {
        addObserver(FinishedObserver(block))
    }

    /// Notifies the observers of a milestone.
    final func post(_ milestone: Milestone, _ attachments: Attachments) {
        attachments.state.withLock { $0.mail.post(milestone) }
        deliverMail(attachments)
    }

    /// Delivers the pending notifications, unless another thread is delivering them.
    final func deliverMail(_ attachments: Attachments) {
        guard attachments.state.withLock({ $0.mail.beginDelivery() }) else { return }
        while let letter = attachments.state.withLock({ $0.mail.next() }) {
            deliver(letter)
        }
    }

    private func deliver(_ letter: ObserverQueue.Letter) {
        switch letter {
        case .attached(let observer): observer.didAttach(to: self)
        case .news(let observer, .started): observer.didStart(self)
        case .news(let observer, .cancelled): observer.didCancel(self)
        case .news(let observer, .timedOut): observer.didTimeOut(self)
        case .news(let observer, .finished): observer.didFinish(self, errors: errors)
        case .close(let action): action()
        }
    }
}

extension AsyncOperationEnding {
    /// The milestone that observers are notified of before `finished`, if there is one.
    var milestone: Milestone? {
        switch self {
        case .finished: nil
        case .cancelled: .cancelled
        case .timedOut: .timedOut
        }
    }
}
