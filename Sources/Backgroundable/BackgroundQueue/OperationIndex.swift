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

/// Who is in a background queue, and under which name. Every question costs the same however many there are.
struct OperationIndex: ~Copyable {
    private var seating = SlotTable()

    /// The queue's last barrier, until it has left: whatever enters meanwhile depends on it.
    var barrier: Operation?

    /// Every operation that is in here, in no order.
    var operations: [Operation] {
        seating.operations
    }

    /// Applies a policy and, unless that drops the operation, gives it a seat.
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

    /// Frees a seat. Returns its operation so that the caller can let go of it after unlocking.
    mutating func leave(_ seat: Int) -> Operation? {
        SlotTable.Number(exactly: seat).flatMap { seating.leave($0) }
    }

    /// The operations of a name that came before `call` and have neither ended nor been cancelled, at most `limit`.
    ///
    /// Those that have are taken out of the chain on the way, so nobody meets them again.
    private mutating func live(_ key: NameKey, before call: UInt64, limit: Int) -> [Operation] {
        var found: [Operation] = []
        var number = seating.first(key.hash)
        while number != SlotTable.none, found.count < limit {
            let (hash, seatCall, next) = (seating[number].hash, seating[number].call, seating[number].next)
            if hash == key.hash, let operation = seating[number].operation, operation.name == key.name {
                // Of those of the same call and name there may be very many. Others of this call say nothing: between two of
                // its operations another call may have brought one of this name.
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

/// What became of an operation that wanted to enter a roll.
struct Admission {
    /// Its seat; nil if it was dropped.
    var seat: Int?
    /// The operations that it replaces.
    var displaced: [Operation] = []
    /// What it has to wait for.
    var barrier: Operation?
}

extension Operation {
    /// Whether uniqueness compares with it: it has neither ended nor been cancelled.
    fileprivate var isLive: Bool {
        if let operation = self as? AsyncOperation { return operation.ending == nil }
        return !isFinished && !isCancelled
    }
}
