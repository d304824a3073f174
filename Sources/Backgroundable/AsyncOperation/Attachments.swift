import Foundation

/// The optional parts of an operation: observers, conditions, errors, a task, a parent group.
///
/// Most operations have none, so the object is created on first use, and the others pay one pointer.
final class Attachments: Sendable {
    struct State: ~Copyable {
        var mail = ObserverQueue()
        var errors: [any Error] = []
        /// Tasks that began to wait for the operation while it was in no queue.
        var waits: [PendingWait] = []
        /// The running task of an operation whose work is asynchronous code.
        var task: Task<Void, Never>?
        /// Watchers of the operation's dependencies, for those that Foundation does not track.
        var watchers: [ObjectIdentifier: FinishWatcher] = [:]
        /// The group that the operation is a part of, until the operation has finished.
        weak var parent: GroupOperation?
        /// Holds the operation's exclusive categories from its start until its work has returned.
        var hold: CategoryHold?
        /// Holds the exclusive categories of the enclosing groups until the operation's work has returned.
        var holdAround: CategoryHold?
    }

    let state = Locked(State())
    /// The conditions of the operation and the progress of their evaluation.
    let evaluation = ConditionEvaluation()

    /// An operation that is deallocated without an ending must not block wait queues or keep its dependencies alive.
    deinit {
        evaluation.leaveLines()
        for watcher in state.withLock({ $0.watchers }).values { watcher.withdraw() }
    }
}

/// Stores an operation's attachments: empty until the first use, then the same object until the operation is
/// deallocated.
///
/// Unchecked because of the address: it is exchanged atomically, once, and points to a `Sendable` object.
struct AttachmentSlot: ~Copyable, @unchecked Sendable {
    private let address = AtomicAddress()

    /// The attachments, if there are any.
    var made: Attachments? {
        address.load().map { Unmanaged<Attachments>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Returns the attachments, and creates them on the first call.
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
