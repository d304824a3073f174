import Foundation

/// What hangs on an operation that has more than a closure: observers, conditions, errors, a task, a parent.
///
/// Most operations have none of it, so it is made when it is first needed and costs the others one pointer.
final class Attachments: Sendable {
    struct State: ~Copyable {
        var mail = ObserverQueue()
        var errors: [any Error] = []
        /// Tasks that began to wait for it when it was in no queue.
        var waits: [PendingWait] = []
        /// The work of an operation whose closure is asynchronous, while it is under way.
        var task: Task<Void, Never>?
        /// What watches the operation's dependencies, where Foundation does not.
        var watchers: [ObjectIdentifier: FinishWatcher] = [:]
        /// The group that the operation is a part of, until it has finished.
        weak var parent: GroupOperation?
        /// What keeps the operation's exclusive categories taken, from its start until its work is over.
        var hold: CategoryHold?
        /// What keeps those of the groups around it taken, until its work is over.
        var holdAround: CategoryHold?
    }

    let state = Locked(State())
    /// The operation's conditions and how far they are.
    let evaluation = ConditionEvaluation()

    /// An operation that is let go without having ended must not hold up those behind it in line, nor keep what it waited for.
    deinit {
        evaluation.leaveLines()
        for watcher in state.withLock({ $0.watchers }).values { watcher.withdraw() }
    }
}

/// Where an operation keeps its attachments: nothing until the first use, then the same object for ever.
///
/// Unchecked because of the address: it is exchanged atomically, once, and what it points to is `Sendable`.
struct AttachmentSlot: ~Copyable, @unchecked Sendable {
    private let address = AtomicAddress()

    /// The attachments, if there are any.
    var made: Attachments? {
        address.load().map { Unmanaged<Attachments>.fromOpaque($0).takeUnretainedValue() }
    }

    /// The attachments, made if there were none.
    func make() -> Attachments {
        if let made { return made }
        let fresh = Unmanaged.passRetained(Attachments())
        guard let other = address.setOnce(fresh.toOpaque()) else { return fresh.takeUnretainedValue() }
        fresh.release()
        return Unmanaged<Attachments>.fromOpaque(other).takeUnretainedValue()
    }

    deinit {
        address.load().map { Unmanaged<Attachments>.fromOpaque($0).release() }
    }
}
