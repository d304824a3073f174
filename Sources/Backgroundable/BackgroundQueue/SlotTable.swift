import Foundation

/// The seats of a ``OperationIndex``: who sits where, and in which chain of a hash table.
///
/// Operations sit in numbered seats; a seat that becomes free is used again. Those whose names fall into one bucket
/// form a chain, oldest first. So entering and leaving move a few numbers and compare no names; only a search does.
///
/// Numbers take half a word, and a bucket knows only its chain's first seat, which in turn knows the last: with many
/// operations the time goes into fetching this from memory, not into computing. (Two thousand million operations in
/// one roll would take more memory than a machine has.)
struct SlotTable: ~Copyable {
    /// A seat's number.
    typealias Number = Int32

    /// In the place of a seat's number: there is none.
    static let none: Number = -1
    /// In the place of the seat before: this one stands in no chain.
    private static let unchained: Number = -2

    struct Seat {
        var operation: Operation?
        /// The name's hash, if the seat stands in a chain.
        var hash = 0
        /// The call that added it; 0 if it came alone.
        var call: UInt64 = 0
        /// The seat before it in the chain; for the first the chain's last.
        fileprivate(set) var previous = SlotTable.unchained
        /// The seat after it in the chain; for a free seat the next free one.
        fileprivate(set) var next = SlotTable.none
    }

    private static let fewest = 64
    /// Above this many seats an empty table gives its memory back.
    private static let kept = 1_024

    private var seats: [Seat] = []
    private var firstFree = SlotTable.none
    private var count = 0
    /// The first seat of every bucket's chain: a power of two of them, at least as many as there are operations.
    private var buckets = [Number](repeating: SlotTable.none, count: SlotTable.fewest)

    /// Every operation that has a seat, in no order.
    var operations: [Operation] {
        seats.compactMap(\.operation)
    }

    subscript(seat: Number) -> Seat {
        seats[Int(seat)]
    }

    /// The first seat of the chain where a name of that hash stands, if it does.
    func first(_ hash: Int) -> Number {
        buckets[bucket(of: hash)]
    }

    /// Gives an operation a seat, at the end of its bucket's chain; without a hash it stands in none.
    mutating func enter(_ operation: Operation, hash: Int?, call: UInt64) -> Number {
        count += 1
        if count > buckets.count { splitBuckets() }
        let seat = take(Seat(operation: operation, hash: hash ?? 0, call: call))
        if let hash { chain(seat, bucket(of: hash)) }
        return seat
    }

    /// Frees a seat. Returns who sat there.
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

    /// Takes a seat out of its chain: no search meets it any more.
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
        // The lowest bits chose this roll among others.
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

    /// Twice as many buckets: each chain becomes two, which stay in order.
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
