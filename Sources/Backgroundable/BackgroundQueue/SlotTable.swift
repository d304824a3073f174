import Foundation

/// The slots of an ``OperationIndex``: each operation's place in the table and in a hash chain.
///
/// Operations have numbered slots; a free slot is used again. Operations whose names hash to the same bucket form a
/// chain, oldest first. Entering and leaving therefore change a few numbers and compare no names; only a search
/// compares names.
///
/// A slot number takes four bytes, and a bucket stores only the first slot of its chain, which in turn stores the last:
/// with many operations, memory access dominates the cost. (Two billion operations would need more memory than a
/// machine has.)
struct SlotTable: ~Copyable {
    /// The number of a slot.
    typealias Number = Int32

    /// Marks the absence of a slot.
    static let none: Number = -1
    /// The previous slot of one that is in no chain.
    private static let unchained: Number = -2

    struct Seat {
        var operation: Operation?
        /// The hash of the name, if the slot is in a chain.
        var hash = 0
        /// The number of the call that added the operation, or 0 if the call added only this one.
        var call: UInt64 = 0
        /// The previous slot in the chain; for the first slot, the last one of the chain.
        fileprivate(set) var previous = SlotTable.unchained
        /// The next slot in the chain; for a free slot, the next free one.
        fileprivate(set) var next = SlotTable.none
    }

    private static let fewest = 64
    /// An empty table with more slots than this frees its memory.
    private static let kept = 1_024

    private var seats: [Seat] = []
    private var firstFree = SlotTable.none
    private var count = 0
    /// The first slot of each bucket's chain. The count is a power of two and at least the number of operations.
    private var buckets = [Number](repeating: SlotTable.none, count: SlotTable.fewest)

    /// All operations in the table, in no particular order.
    var operations: [Operation] {
        seats.compactMap(\.operation)
    }

    subscript(seat: Number) -> Seat {
        seats[Int(seat)]
    }

    /// Returns the first slot of the chain for names with that hash, or `none`.
    func first(_ hash: Int) -> Number {
        buckets[bucket(of: hash)]
    }

    /// Adds an operation at the end of its bucket's chain, or in no chain if there is no hash. Returns its slot.
    mutating func enter(_ operation: Operation, hash: Int?, call: UInt64) -> Number {
        count += 1
        if count > buckets.count { splitBuckets() }
        let seat = take(Seat(operation: operation, hash: hash ?? 0, call: call))
        if let hash { chain(seat, bucket(of: hash)) }
        return seat
    }

    /// Frees a slot. Returns the operation that it had.
    mutating func leave(_ seat: Number) -> Operation? {
        guard seats.indices.contains(Int(seat)), let operation = seats[Int(seat)].operation else { return nil }
        count -= 1
        unchain(seat)
        if count == 0, seats.count > SlotTable.kept {
            self = SlotTable()
        } else {
            seats[Int(seat)].operation = nil
            seats[Int(seat)].next = firstFree
            firstFree = seat
        }
        return operation
    }

    /// Removes a slot from its chain, so that searches skip it.
    mutating func unchain(_ seat: Number) {
        let (hash, previous, next) = (self[seat].hash, self[seat].previous, self[seat].next)
        guard previous != SlotTable.unchained else { return }
        let bucket = bucket(of: hash)
        let first = buckets[bucket]
        if seat == first {
            buckets[bucket] = next
        } else {
            seats[Int(previous)].next = next
        }
        let closing = next != SlotTable.none ? next : first
        seats[Int(closing)].previous = previous
        seats[Int(seat)].previous = SlotTable.unchained
    }

    private mutating func take(_ occupied: Seat) -> Number {
        guard firstFree != SlotTable.none else {
            seats.append(occupied)
            return Number(truncatingIfNeeded: seats.count - 1)
        }
        let seat = firstFree
        firstFree = self[seat].next
        seats[Int(seat)] = occupied
        return seat
    }

    private func bucket(of hash: Int) -> Int {
        // The lowest bits select the shard.
        (hash >> 8) & (buckets.count - 1)
    }

    private mutating func chain(_ seat: Number, _ bucket: Int) {
        let first = buckets[bucket]
        seats[Int(seat)].next = SlotTable.none
        if first == SlotTable.none {
            buckets[bucket] = seat
            seats[Int(seat)].previous = seat
        } else {
            let last = self[first].previous
            seats[Int(last)].next = seat
            seats[Int(seat)].previous = last
            seats[Int(first)].previous = seat
        }
    }

    /// Doubles the number of buckets. Each chain is split into two, which keep their order.
    private mutating func splitBuckets() {
        let old = buckets
        buckets = [Number](repeating: SlotTable.none, count: old.count * 2)
        for first in old {
            var seat = first
            while seat != SlotTable.none {
                let next = self[seat].next
                chain(seat, bucket(of: self[seat].hash))
                seat = next
            }
        }
    }
}
