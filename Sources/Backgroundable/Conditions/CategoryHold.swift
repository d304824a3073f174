import Foundation

/// What keeps an operation's exclusive categories taken: they are released with the last reference to it.
///
/// The operation holds it until it has ended and its closure has returned; nothing can stop a closure, and another one of
/// the category must not run beside it. So do the parts of a group, for the group's categories. A closure that never
/// returns keeps a category for ``patience`` after its operation's end, and no longer.
final class CategoryHold: Sendable {
    /// How long closures that run on keep the category of an operation that has ended.
    static let patience = Duration.seconds(10)

    private let ticket: CategoryTicket
    /// The hold of the group around the operation, whose parts' work is the group's.
    private let around: CategoryHold?

    init(_ ticket: CategoryTicket, around: CategoryHold?) {
        self.ticket = ticket
        self.around = around
    }

    deinit {
        giveUp()
    }

    /// The operation has ended and does not hold this any more: closures that do may for a while.
    static func limit(_ hold: consuming CategoryHold?) {
        guard var hold, !isKnownUniquelyReferenced(&hold) else { return }
        weak let held = hold
        _ = DeadlineTimer.shared.schedule(after: patience) {
            // The next in line begins: not on the timer's thread.
            DispatchQueue.global().async { held?.giveUp() }
        }
    }

    private func giveUp() {
        ExclusiveCategories.shared.leave(ticket)
    }
}

extension Attachments {
    /// What the parts of a group hold.
    var holdForParts: CategoryHold? {
        state.withLock { $0.hold ?? $0.holdAround }
    }

    /// The operation is about to open: its categories stay taken until its work is over.
    func holdCategories() {
        guard let ticket = evaluation.handOverTicket() else { return }
        state.withLock { $0.hold = CategoryHold(ticket, around: $0.holdAround) }
    }

    /// The operation has finished.
    ///
    /// - Parameter closureRuns: Whether its closure runs on. Then ``letGoOfCategories()`` is called when that returns.
    func finishHolding(closureRuns: Bool) {
        let hold = state.withLock { $0.hold }
        if !closureRuns { letGoOfCategories() }
        CategoryHold.limit(hold)
    }

    /// The operation's work is over.
    func letGoOfCategories() {
        // What has its turn by that begins after the lock.
        let holds = state.withLock { state in (state.hold.take(), state.holdAround.take()) }
        withExtendedLifetime(holds) {}
    }
}
