import Foundation

extension AsyncOperation {
    /// Adds an observer. Any number may be added, at any time: one that comes late learns at once what has happened.
    ///
    /// - Returns: The operation, so that calls can be chained.
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

    /// Calls a block when the operation has finished, with its errors.
    @discardableResult
    public final func addFinishedBlock(
        _ block: @escaping @Sendable (AsyncOperation, [any Error]) -> Void
    ) -> Self {
        addObserver(FinishedObserver(block))
    }

    /// Tells the observers of a milestone.
    final func post(_ milestone: Milestone, _ attachments: Attachments) {
        attachments.state.withLock { $0.mail.post(milestone) }
        deliverMail(attachments)
    }

    /// Delivers what is there, unless another thread is about it.
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
    /// What observers are told apart from the end itself.
    var milestone: Milestone? {
        switch self {
        case .finished: nil
        case .cancelled: .cancelled
        case .timedOut: .timedOut
        }
    }
}
