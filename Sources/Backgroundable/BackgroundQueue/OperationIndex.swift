import Foundation

/// A name and its hash, which is computed once, before any lock is taken.
struct NameKey {
    let name: String
    let hash: Int

    init(_ name: String) {
        self.name = name
        hash = name.hashValue
    }
}

/// The operations of a background queue by name. Adding and removing take constant time.
struct OperationIndex: ~Copyable {
    private var seating = SlotTable()

    /// The last barrier of the queue until it has left. Operations that enter meanwhile depend on it.
    var barrier: Operation?

    /// All operations in the index, in no particular order.
    var operations: [Operation] {
        seating.operations
    }

    /// Applies a policy and, unless that drops the operation, gives it a slot.
    mutating func admit(
        _ operation: Operation,
        key: NameKey?,
        policy: AsyncOperationUniquenessPolicy,
        call: UInt64
    ) -> Admission {
        var displaced: [Operation] = []
        if let key, policy != .ignore {
            let live = live(key, before: call, limit: policy == .drop ? 1 : .max)
            if policy == .drop, !live.isEmpty { return Admission() }
            displaced = live
        }
        let seat = seating.enter(operation, hash: key?.hash, call: call)
        return Admission(seat: Int(seat), displaced: displaced, barrier: barrier)
    }

    /// Frees a slot. Returns its operation, so that the caller can release it after unlocking.
    mutating func leave(_ seat: Int) -> Operation? {
        SlotTable.Number(exactly: seat).flatMap { seating.leave($0) }
    }

    /// Returns at most `limit` operations of a name that were added before `call` and have neither ended nor been
    /// cancelled.
    ///
    /// Ended and cancelled operations are removed from the chain on the way, so later searches skip them.
    private mutating func live(_ key: NameKey, before call: UInt64, limit: Int) -> [Operation] {
        var found: [Operation] = []
        var number = seating.first(key.hash)
        while number != SlotTable.none, found.count < limit {
            let (hash, seatCall, next) = (seating[number].hash, seating[number].call, seating[number].next)
            if hash == key.hash, let operation = seating[number].operation, operation.name == key.name {
                // Of one call and name there may be very many operations, so the search stops here. Operations of this
                // call with other names do not stop it: between two of them, another call may have added this name.
                if call != 0, seatCall == call { break }
                if operation.isLive {
                    found.append(operation)
                } else {
                    seating.unchain(number)
                }
            }
            number = next
        }
        return found
    }
}

/// The result of adding an operation to the index.
struct Admission {
    /// The slot of the operation, or nil if it was dropped.
    var seat: Int?
    /// The operations that the new operation replaces.
    var displaced: [Operation] = []
    /// The barrier that the operation has to wait for.
    var barrier: Operation?
}

extension Operation {
    /// Whether uniqueness policies compare with the operation: it has neither ended nor been cancelled.
    fileprivate var isLive: Bool {
        if let operation = self as? AsyncOperation { return operation.ending == nil }
        return !isFinished && !isCancelled
    }
}
