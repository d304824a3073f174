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
///
/// Operations sit in numbered seats; a seat that becomes free is used again. The seats are a hash table at the same
/// time: those whose names fall into one bucket form a chain, oldest first. So entering and leaving move a few
/// numbers and compare no names; only a search does.
struct Roll: ~Copyable {
    private struct Seat {
        var operation: Operation?
        /// The name's hash; nil if the seat stands in no chain.
        var hash: Int?
        /// The call that added it; 0 if it came alone.
        var call: UInt64 = 0
        /// The neighbours in the bucket's chain; for a free seat `next` is the next free one.
        var previous = Roll.none
        var next = Roll.none
    }

    private struct Bucket {
        var first = Roll.none
        var last = Roll.none
    }

    private static let none = -1
    private static let smallest = 64
    /// Above this many seats an empty roll gives its memory back.
    private static let keptSeats = 1_024

    private var seats: [Seat] = []
    private var firstFree = Roll.none
    /// A power of two of them, at least as many as there are operations.
    private var buckets = [Bucket](repeating: Bucket(), count: Roll.smallest)
    private var count = 0

    /// The queue's last barrier, until it has left: whatever enters meanwhile depends on it.
    var barrier: Operation?

    /// Every operation that is in here, in no order.
    var operations: [Operation] {
        seats.compactMap(\.operation)
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
        let seat = enter(operation, key: key, call: call)
        return Admission(seat: seat, displaced: displaced, barrier: barrier)
    }

    /// Frees a seat. Returns its operation so that the caller can let go of it after unlocking.
    mutating func leave(_ seat: Int) -> Operation? {
        guard seats.indices.contains(seat), let operation = seats[seat].operation else { return nil }
        count -= 1
        unchain(seat)
        seats[seat].operation = nil
        seats[seat].next = firstFree
        firstFree = seat
        if count == 0, seats.count > Roll.keptSeats {
            seats = []
            firstFree = Roll.none
            buckets = [Bucket](repeating: Bucket(), count: Roll.smallest)
        }
        return operation
    }

    /// Gives an operation a seat, at the end of its bucket's chain.
    private mutating func enter(_ operation: Operation, key: NameKey?, call: UInt64) -> Int {
        count += 1
        if count > buckets.count { splitBuckets() }
        let seat = freeSeat()
        seats[seat] = Seat(operation: operation, hash: key?.hash, call: call)
        if let key { chain(seat, bucket(of: key.hash)) }
        return seat
    }

    /// The operations of a name that came before `call` and have neither ended nor been cancelled, at most `limit`.
    ///
    /// Those that have are taken out of the chain on the way, so nobody meets them again.
    private mutating func live(_ key: NameKey, before call: UInt64, limit: Int) -> [Operation] {
        var found: [Operation] = []
        var seat = buckets[bucket(of: key.hash)].first
        while seat != Roll.none, found.count < limit {
            let next = seats[seat].next
            // The chain is in order of arrival: from the first of the same call on, nobody came before it.
            if call != 0, seats[seat].call == call { break }
            if seats[seat].hash == key.hash, let operation = seats[seat].operation, operation.name == key.name {
                if operation.isLive {
                    found.append(operation)
                } else {
                    unchain(seat)
                }
            }
            seat = next
        }
        return found
    }

    private mutating func freeSeat() -> Int {
        guard firstFree != Roll.none else {
            seats.append(Seat())
            return seats.count - 1
        }
        let seat = firstFree
        firstFree = seats[seat].next
        return seat
    }

    // MARK: Buckets

    private func bucket(of hash: Int) -> Int {
        // The lowest bits chose this roll among others.
        (hash >> 8) & (buckets.count - 1)
    }

    private mutating func chain(_ seat: Int, _ bucket: Int) {
        let last = buckets[bucket].last
        seats[seat].previous = last
        seats[seat].next = Roll.none
        buckets[bucket].last = seat
        if last == Roll.none {
            buckets[bucket].first = seat
        } else {
            seats[last].next = seat
        }
    }

    private mutating func unchain(_ seat: Int) {
        guard let hash = seats[seat].hash else { return }
        let (previous, next) = (seats[seat].previous, seats[seat].next)
        if previous == Roll.none {
            buckets[bucket(of: hash)].first = next
        } else {
            seats[previous].next = next
        }
        if next == Roll.none {
            buckets[bucket(of: hash)].last = previous
        } else {
            seats[next].previous = previous
        }
        seats[seat].hash = nil
    }

    /// Twice as many buckets: each chain becomes two, which stay in order.
    private mutating func splitBuckets() {
        let old = buckets
        buckets = [Bucket](repeating: Bucket(), count: old.count * 2)
        for bucket in old {
            var seat = bucket.first
            while seat != Roll.none {
                let next = seats[seat].next
                if let hash = seats[seat].hash { chain(seat, self.bucket(of: hash)) }
                seat = next
            }
        }
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
