import Foundation

/// The state of an operation's conditions: collected, being evaluated, satisfied, waiting for exclusive categories,
/// settled.
final class ConditionEvaluation: Sendable {
    fileprivate enum Phase {
        case open, judging, judged, inLine, settled, over
    }

    fileprivate enum Look {
        case waits, mayRun, begins, linesUp
    }

    fileprivate struct State: ~Copyable {
        var phase = Phase.open
        /// The conditions, until their evaluation begins.
        var conditions: [any OperationCondition] = []
        /// The exclusive categories that the operation needs. Set when the evaluation begins.
        var categories: Set<String>?
        /// The judge that evaluates the conditions, until they have decided.
        var judge: ConditionJudge?
        var ticket: CategoryTicket?
        /// Whether a ``CategoryHold`` releases the ticket, because the operation has begun.
        var isTicketHeld = false
        /// The number of times that the operation entered its wait queues. A turn of an earlier, released ticket is
        /// ignored.
        var round = 0
        var onSettled: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    /// Adds a condition. Returns false if the evaluation has begun.
    func add(_ condition: any OperationCondition) -> Bool {
        state.withLock { state in
            guard state.phase == .open else { return false }
            state.conditions.append(condition)
            return true
        }
    }

    /// The exclusive categories of the operation.
    var categories: Set<String> {
        let (known, conditions) = state.withLock { ($0.categories, $0.conditions) }
        return known ?? conditions.exclusiveCategories
    }

    /// Whether the operation has to wait, as far as known. Does not begin the evaluation.
    ///
    /// - Parameter wasLookedAt: Whether a queue has found the operation waiting. Then the evaluation is about to begin.
    func isHoldingBack(wasLookedAt: Bool) -> Bool {
        state.withLock { state in
            switch state.phase {
            case .settled, .over: false
            case .judging, .judged, .inLine: true
            case .open: wasLookedAt && !state.conditions.isEmpty
            }
        }
    }

    /// Whether the operation has to wait. The first call begins the evaluation.
    func holdsBack(_ operation: AsyncOperation) -> Bool {
        let (look, conditions) = state.withLock { state in (state.look(), state.conditions) }
        switch look {
        case .waits: return true
        case .mayRun: return false
        case .begins where begin(conditions, operation), .linesUp where getInLine(operation):
            ReadinessNotifier.ringLater(operation)
            return false
        case .begins, .linesUp: return true
        }
    }

    /// Calls `action` when the conditions hold or the operation has ended. Returns false, and does not keep `action`,
    /// if that is already so or if the evaluation has not begun.
    func whenSettled(_ action: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            switch state.phase {
            case .open, .settled, .over: return false
            case .judging, .judged, .inLine:
                state.onSettled = action
                return true
            }
        }
    }

    /// The operations that the conditions wait for.
    var helpers: [Operation] {
        state.withLock { $0.judge }?.helpers ?? []
    }

    /// The operation's place in the wait queues of its exclusive categories, until the operation has ended.
    var ticket: CategoryTicket? {
        state.withLock { $0.ticket }
    }

    /// Whether the operation has an exclusive category, or waits for it.
    func holds(_ category: String) -> Bool {
        ticket?.categories.contains(category) == true
    }

    /// Takes the turn for good; after that no condition can be added. Returns false if the operation was overtaken
    /// since it had its turn, or if a condition was added meanwhile. It then waits again.
    func takesTurn(hasEnded: Bool) -> Bool {
        state.withLock { state in
            if state.phase == .open {
                guard state.conditions.isEmpty || hasEnded else { return false }
                state.phase = .settled
            }
            guard state.phase == .settled, let ticket = state.ticket else { return true }
            // In one step with this state, so that the next turn is not missed.
            guard !ExclusiveCategories.shared.begin(ticket) else { return true }
            state.phase = .inLine
            return false
        }
    }

    /// Passes the ticket to the caller when the operation begins. From then on the caller releases it. Returns nil if
    /// the operation has no exclusive categories, or if the ticket was already passed.
    func handOverTicket() -> CategoryTicket? {
        state.withLock { state in
            guard !state.isTicketHeld, let ticket = state.ticket else { return nil }
            state.isTicketHeld = true
            return ticket
        }
    }

    /// Ends the evaluation because the operation has ended. If the operation had not begun, it leaves its wait queues.
    /// Returns whether the conditions still held it back.
    @discardableResult
    func leaveLines() -> Bool {
        var conditions: [any OperationCondition] = []
        let (ticket, action, judge, wasHeldBack) = state.withLock { state in
            swap(&conditions, &state.conditions)
            let wasHeldBack = state.phase != .settled && state.phase != .over
            state.phase = .over
            let ticket = state.ticket.take()
            return (state.isTicketHeld ? nil : ticket, state.onSettled.take(), state.judge.take(), wasHeldBack)
        }
        judge?.callOff()
        if let ticket { ExclusiveCategories.shared.leave(ticket) }
        action?()
        return wasHeldBack
    }

    // MARK: Steps

    /// Begins the evaluation. Returns whether the operation may already run.
    private func begin(_ conditions: [any OperationCondition], _ operation: AsyncOperation) -> Bool {
        let categories = conditions.exclusiveCategories
        state.withLock { state in
            state.categories = categories
            state.conditions = []
        }
        // Exclusive categories are first come, first served: without conditions to evaluate, the operation enters
        // immediately.
        guard conditions.contains(where: { !($0 is any PurelyExclusive) }) else { return getInLine(operation) }
        guard let queue = queueForHelpers(of: operation) else { return false }
        let judge = ConditionJudge(.and, conditions, in: queue)
        let isWanted = state.withLock { state in
            guard state.phase == .judging else { return false }
            state.judge = judge
            return true
        }
        guard isWanted else { return false }
        judge.judge(conditions, for: operation) { result in
            switch result {
            case .failed(let error): operation.end(.cancelled, errors: [error])
            case .ignored: operation.end(.cancelled)
            case .satisfied: if self.hold(judge.categories) { self.lookAgain(operation) }
            }
        }
        return false
    }

    /// Returns the operation's background queue, or the shared one if it has none. Nil if the operation has ended.
    private func queueForHelpers(of operation: AsyncOperation) -> BackgroundQueue? {
        state.withLock { state in
            // The operation cannot leave its queue while it is being judged, and a thread that ends it first changes
            // this state.
            guard state.phase == .judging else { return nil }
            return operation.registeredQueue ?? .background
        }
    }

    /// Notes that the conditions hold. The next check of an unblocked operation enters the wait queues.
    private func hold(_ categories: Set<String>) -> Bool {
        state.withLock { state in
            guard state.phase == .judging else { return false }
            state.phase = .judged
            state.categories = categories
            state.judge = nil
            return true
        }
    }

    /// Leaves the wait queues until the next check, unless the operation has begun: it now has an unfinished
    /// dependency, which may wait in the same wait queue.
    func withdraw(_ operation: AsyncOperation) {
        let ticket: CategoryTicket? = state.withLock { state in
            guard state.phase == .inLine || state.phase == .settled else { return nil }
            guard let ticket = state.ticket, !ExclusiveCategories.shared.hasBegun(ticket) else { return nil }
            state.phase = .judged
            return state.ticket.take()
        }
        guard let ticket else { return }
        ExclusiveCategories.shared.leave(ticket)
        // The dependency may have finished meanwhile without another check.
        lookAgain(operation)
    }

    private func lookAgain(_ operation: AsyncOperation) {
        if operation.isReady { ReadinessNotifier.ring(operation) }
    }

    /// Enters the wait queues. Returns whether the operation has its turn immediately.
    private func getInLine(_ operation: AsyncOperation) -> Bool {
        var categories = categories
        guard !categories.isEmpty else { return settle() }
        // If a group held one category while its parts waited for another, the holder of that one could wait for the
        // group.
        categories.formUnion((operation as? GroupOperation)?.categoriesOfParts ?? [])
        let round = state.withLock { state in
            state.round += 1
            return state.round
        }
        let ticket = CategoryTicket(categories, for: operation) { [weak operation] in
            guard let operation, self.settle(round) else { return }
            ReadinessNotifier.ring(operation)
        }
        let isStillWanted = state.withLock { state in
            guard state.phase == .judging else { return false }
            state.phase = .inLine
            state.ticket = ticket
            return true
        }
        guard isStillWanted else { return false }
        let place = ExclusiveCategories.shared.getInLine(ticket)
        if place == .circle {
            refuse(operation, categories)
        } else if !operation.isUnblocked {
            withdraw(operation)
        } else if place == .first {
            return settle(round)
        }
        return false
    }

    /// Ends an operation that would wait forever. On another thread, because a queue may be reading `isReady` on this
    /// one.
    private func refuse(_ operation: AsyncOperation, _ categories: Set<String>) {
        let error = OperationError.exclusiveDeadlock(categories: categories.sorted())
        DispatchQueue.global().async { operation.end(.cancelled, errors: [error]) }
    }

    /// Notes that the operation may run. Returns false if it has ended, or if the turn is that of an earlier ticket.
    private func settle(_ round: Int? = nil) -> Bool {
        var action: (@Sendable () -> Void)?
        let isNews = state.withLock { state in
            guard state.phase == .judging || state.phase == .inLine, round ?? state.round == state.round else {
                return false
            }
            state.phase = .settled
            action = state.onSettled.take()
            return true
        }
        action?()
        return isNews
    }
}

extension ConditionEvaluation.State {
    /// Returns the next step for a reader of the operation's readiness, and changes the phase accordingly.
    fileprivate mutating func look() -> ConditionEvaluation.Look {
        switch phase {
        case .settled, .over: return .mayRun
        case .judging, .inLine: return .waits
        case .judged:
            phase = .judging
            return .linesUp
        case .open:
            guard !conditions.isEmpty else { return .mayRun }
            phase = .judging
            return .begins
        }
    }
}
