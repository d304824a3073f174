import Foundation

/// Holds an operation's exclusive categories until its last reference is released.
///
/// The operation keeps the hold until it has ended and its closure has returned: a closure cannot be stopped, and
/// another operation of the category must not run at the same time. The parts of a group keep the hold of the group. If
/// a closure does not return, the category is released ``patience`` after the end of its operation.
final class CategoryHold: Sendable {
    /// How long a closure that still runs keeps the categories after its operation has ended.
    static let patience = Duration.seconds(10)

    private let ticket: CategoryTicket
    /// The hold of the enclosing group, because the work of its parts is the work of the group.
    private let around: CategoryHold?

    init(_ ticket: CategoryTicket, around: CategoryHold?) {
        self.ticket = ticket
        self.around = around
    }

    deinit {
        giveUp()
    }

    /// Releases the categories after ``patience`` if closures still keep the hold of an operation that has ended.
    static func limit(_ hold: consuming CategoryHold?) {
        guard var hold, !isKnownUniquelyReferenced(&hold) else { return }
        weak let held = hold
        _ = DeadlineTimer.shared.schedule(after: patience) {
            // The next operation begins on another thread than the timer's.
            DispatchQueue.global().async { held?.giveUp() }
        }
    }

    private func giveUp() {
        ExclusiveCategories.shared.leave(ticket)
    }
}

extension Attachments {
    /// The hold that the parts of a group share.
    var holdForParts: CategoryHold? {
        state.withLock { $0.hold ?? $0.holdAround }
    }

    /// Takes the hold for an operation that is about to open.
    func holdCategories() {
        guard let ticket = evaluation.handOverTicket() else { return }
        state.withLock { $0.hold = CategoryHold(ticket, around: $0.holdAround) }
    }

    /// Releases the hold of an operation that has finished.
    ///
    /// - Parameter closureRuns: Whether its closure still runs. Then ``letGoOfCategories()`` is called when that
    ///   returns.
    func finishHolding(closureRuns: Bool) {
        let hold = state.withLock { $0.hold }
        if !closureRuns { letGoOfCategories() }
        CategoryHold.limit(hold)
    }

    /// Releases the hold when the operation's work has returned.
    func letGoOfCategories() {
        // The release may start other operations, so it happens outside the lock.
        let holds = state.withLock { state in (state.hold.take(), state.holdAround.take()) }
        withExtendedLifetime(holds) {}
    }
}
