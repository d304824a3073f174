import Foundation

/// How far an operation's conditions are: gathered, being judged, in line for its exclusive categories, settled.
final class ConditionEvaluation: Sendable {
    fileprivate enum Phase {
        case open, judging, inLine, settled, over
    }

    fileprivate enum Look {
        case waits, mayRun, begins
    }

    fileprivate struct State: ~Copyable {
        var phase = Phase.open
        var conditions: [any OperationCondition] = []
        var ticket: ExclusiveTicket?
        /// The thread that changes the operation's dependencies just now.
        var unmovedBy: ObjectIdentifier?
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
        Set(state.withLock { $0.conditions }.compactMap(\.exclusiveCategory))
    }

    /// Runs `body`, in which looks of the same thread at the operation's readiness begin nothing.
    func unmoved(_ body: () -> Void) {
        let thread = ObjectIdentifier(Thread.current)
        state.withLock { $0.unmovedBy = thread }
        body()
        state.withLock { $0.unmovedBy = nil }
    }

    /// Whether the operation has to wait. The first call begins the evaluation.
    func holdsBack(_ operation: AsyncOperation) -> Bool {
        let (look, conditions) = state.withLock { state in (state.look(), state.conditions) }
        switch look {
        case .waits: return true
        case .mayRun: return false
        case .begins: return !begin(conditions, operation)
        }
    }

    /// Has `action` called when the conditions hold or the operation has ended. False if that is so already.
    func whenSettled(_ action: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            guard state.phase != .settled, state.phase != .over else { return false }
            state.onSettled = action
            return true
        }
    }

    /// The operation has ended: the next in its lines may have their turn.
    func leaveLines() {
        let (ticket, action) = state.withLock { state in
            state.phase = .over
            return (state.ticket.take(), state.onSettled.take())
        }
        if let ticket { ExclusiveLines.shared.leave(ticket) }
        action?()
    }

    // MARK: The way

    /// Returns whether the conditions hold already.
    private func begin(_ conditions: [any OperationCondition], _ operation: AsyncOperation) -> Bool {
        let doubtful = conditions.filter { !($0 is any PurelyExclusive) }
        // Who comes first is served first: whoever need not be judged gets in line at once.
        guard !doubtful.isEmpty else { return getInLine(operation) }
        DispatchQueue.global().async {
            ConditionJudge.judge(doubtful, for: operation) { errors in
                if !errors.isEmpty {
                    operation.end(.cancelled, errors: errors)
                } else if self.getInLine(operation) {
                    ReadinessBell.ring(operation)
                }
            }
        }
        return false
    }

    /// Returns whether it has its turn at once.
    private func getInLine(_ operation: AsyncOperation) -> Bool {
        let categories = categories
        guard !categories.isEmpty else { return settle() }
        let ticket = ExclusiveTicket(categories, for: operation) { [weak operation] in
            guard let operation, self.settle() else { return }
            ReadinessBell.ring(operation)
        }
        let isStillWanted = state.withLock { state in
            guard state.phase == .judging else { return false }
            state.phase = .inLine
            state.ticket = ticket
            return true
        }
        return isStillWanted && ExclusiveLines.shared.getInLine(ticket) && settle()
    }

    /// Returns whether this is news: the operation has not ended.
    private func settle() -> Bool {
        var action: (@Sendable () -> Void)?
        let isNews = state.withLock { state in
            guard state.phase == .judging || state.phase == .inLine else { return false }
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
        case .open:
            guard !conditions.isEmpty else { return .mayRun }
            guard unmovedBy != ObjectIdentifier(Thread.current) else { return .waits }
            phase = .judging
            return .begins
        }
    }
}
