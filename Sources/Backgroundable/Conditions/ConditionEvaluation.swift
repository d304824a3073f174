import Foundation

/// How far an operation's conditions are: gathered, being judged, found to hold, in line for its exclusive categories,
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
        /// Until they are evaluated.
        var conditions: [any OperationCondition] = []
        /// The exclusive categories that the operation needs, from when its conditions are evaluated.
        var categories: Set<String>?
        /// The judge that evaluates the conditions, until they have decided.
        var judge: ConditionJudge?
        var ticket: CategoryTicket?
        /// Whether a ``CategoryHold`` leaves the lines, because the operation has begun.
        var isTicketHeld = false
        /// How often it has got in line: a turn of an earlier ticket, which was given up, means nothing.
        var round = 0
        var onSettled: (@Sendable () -> Void)?
    }

    private let state = Locked(State())

    /// Adds a condition; false if the evaluation has begun.
    func add(_ condition: any OperationCondition) -> Bool {
        state.withLock { state in
            guard state.phase == .open else { return false }
            state.conditions.append(condition)
            return true
        }
    }

    /// The categories that the operation has to itself while it runs.
    var categories: Set<String> {
        let (known, conditions) = state.withLock { ($0.categories, $0.conditions) }
        return known ?? conditions.exclusiveCategories
    }

    /// Whether the operation has to wait, as far as is known. Begins nothing.
    ///
    /// - Parameter wasLookedAt: Whether a queue has found the operation waiting: then the evaluation is about to begin.
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

    /// Has `action` called when the conditions hold or the operation has ended. False if that is so already, or if the
    /// evaluation has not begun.
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

    /// The operation's place in the lines of its exclusive categories, until it has ended.
    var ticket: CategoryTicket? {
        state.withLock { $0.ticket }
    }

    /// Whether the operation has a category to itself, or will have it when its turn comes.
    func holds(_ category: String) -> Bool {
        ticket?.categories.contains(category) == true
    }

    /// Takes the turn for good: no condition is added any more. False if the operation has been overtaken since it had its
    /// turn, or if a condition has been added meanwhile: it waits again.
    func takesTurn(hasEnded: Bool) -> Bool {
        state.withLock { state in
            if state.phase == .open {
                guard state.conditions.isEmpty || hasEnded else { return false }
                state.phase = .settled
            }
            guard state.phase == .settled, let ticket = state.ticket else { return true }
            // In one step with this state, so that the next turn does not come unseen.
            guard !ExclusiveCategories.shared.begin(ticket) else { return true }
            state.phase = .inLine
            return false
        }
    }

    /// The operation begins: from now on the caller leaves its lines. Returns its place in them, if it has exclusive
    /// categories.
    func handOverTicket() -> CategoryTicket? {
        state.withLock { state in
            guard !state.isTicketHeld, let ticket = state.ticket else { return nil }
            state.isTicketHeld = true
            return ticket
        }
    }

    /// The operation has ended: if it had not begun, the next in its lines may have their turn. Returns whether it was still
    /// held back.
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

    // MARK: The way

    /// Returns whether the conditions hold already.
    private func begin(_ conditions: [any OperationCondition], _ operation: AsyncOperation) -> Bool {
        let categories = conditions.exclusiveCategories
        state.withLock { state in
            state.categories = categories
            state.conditions = []
        }
        // First come, first served: an operation whose conditions need not be judged gets in line at once.
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

    /// The operation's background queue, if it has one; nil if the operation has ended.
    private func queueForHelpers(of operation: AsyncOperation) -> BackgroundQueue? {
        state.withLock { state in
            // While it is being judged the operation cannot leave its queue, and whoever ends it comes here first.
            guard state.phase == .judging else { return nil }
            return operation.membership?.queue ?? .background
        }
    }

    /// The conditions hold: the next look at an operation that depends on nothing unfinished gets it in line.
    private func hold(_ categories: Set<String>) -> Bool {
        state.withLock { state in
            guard state.phase == .judging else { return false }
            state.phase = .judged
            state.categories = categories
            state.judge = nil
            return true
        }
    }

    /// Gives up the place in line until the next look, unless the operation has begun: it depends on something
    /// unfinished now, which may be waiting in the same line.
    func withdraw(_ operation: AsyncOperation) {
        let ticket: CategoryTicket? = state.withLock { state in
            guard state.phase == .inLine || state.phase == .settled else { return nil }
            guard let ticket = state.ticket, !ExclusiveCategories.shared.hasBegun(ticket) else { return nil }
            state.phase = .judged
            return state.ticket.take()
        }
        guard let ticket else { return }
        ExclusiveCategories.shared.leave(ticket)
        // What it depends on may have finished meanwhile, and nobody would look.
        lookAgain(operation)
    }

    private func lookAgain(_ operation: AsyncOperation) {
        if operation.isReady { ReadinessNotifier.ring(operation) }
    }

    /// Returns whether it has its turn at once.
    private func getInLine(_ operation: AsyncOperation) -> Bool {
        var categories = categories
        guard !categories.isEmpty else { return settle() }
        // A group that holds one category while its parts wait for another could be waited for by that one's holder.
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

    /// Ends an operation that would wait for ever: not within its queue's question whether it is ready.
    private func refuse(_ operation: AsyncOperation, _ categories: Set<String>) {
        let error = OperationError.exclusiveDeadlock(categories: categories.sorted())
        DispatchQueue.global().async { operation.end(.cancelled, errors: [error]) }
    }

    /// Returns whether this is news: the operation has not ended.
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
    /// What somebody who looks at the operation's readiness finds, or has to do.
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
