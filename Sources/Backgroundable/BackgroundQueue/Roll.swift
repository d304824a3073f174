import Foundation

/// Who is in a background queue, and under which name. Every question costs the same however many there are.
///
/// Operations sit in numbered seats; a seat that becomes free is used again. Seats of one name form a chain, oldest first,
/// whose first seat stands in a dictionary; the first one's `previous` is the chain's last.
struct Roll: ~Copyable {
    private struct Seat {
        var operation: Operation?
        var name: String?
        /// The call that added it; 0 if it came alone.
        var call: UInt64 = 0
        /// The neighbours in the name's chain; for a free seat `next` is the next free one.
        var previous = Roll.none
        var next = Roll.none
    }

    private static let none = -1
    /// Above this many seats an empty roll gives its memory back.
    private static let keptSeats = 1_024

    private var seats: [Seat] = []
    private var firstFree = Roll.none
    private var firstOfName: [String: Int] = [:]
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
        name: String?,
        policy: AsyncOperationUniquenessPolicy,
        call: UInt64
    ) -> Admission {
        var displaced: [Operation] = []
        if let name, policy != .ignore {
            let live = live(name, before: call, limit: policy == .drop ? 1 : .max)
            if policy == .drop, !live.isEmpty { return Admission() }
            displaced = live
        }
        let seat = enter(operation, name: name, call: call)
        return Admission(seat: seat, displaced: displaced, barrier: barrier)
    }

    /// Gives an operation a seat, at the end of its name's chain.
    private mutating func enter(_ operation: Operation, name: String?, call: UInt64) -> Int {
        count += 1
        let seat = freeSeat()
        seats[seat] = Seat(operation: operation, name: name, call: call, previous: seat)
        if let name {
            chain(seat, name)
        }
        return seat
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
            firstOfName = [:]
        }
        return operation
    }

    /// The operations of a name that came before `call` and have neither ended nor been cancelled, at most `limit`.
    ///
    /// Those that have are taken out of the chain on the way, so nobody meets them again.
    private mutating func live(_ name: String, before call: UInt64, limit: Int) -> [Operation] {
        var found: [Operation] = []
        var seat = firstOfName[name] ?? Roll.none
        while seat != Roll.none, found.count < limit {
            let next = seats[seat].next
            if call != 0, seats[seat].call == call { break }
            if let operation = seats[seat].operation, operation.isLive {
                found.append(operation)
            } else {
                unchain(seat)
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

    private mutating func chain(_ seat: Int, _ name: String) {
        let first = firstOfName[name, default: seat]
        guard first != seat else {
            firstOfName[name] = seat
            return
        }
        let last = seats[first].previous
        seats[last].next = seat
        seats[seat].previous = last
        seats[first].previous = seat
    }

    private mutating func unchain(_ seat: Int) {
        guard let name = seats[seat].name else { return }
        let (previous, next) = (seats[seat].previous, seats[seat].next)
        if previous == seat {
            firstOfName[name] = nil
        } else if seats[previous].next == seat {
            unchainInner(seat, previous, next, name)
        } else {
            // The first of several: the next one becomes the first.
            firstOfName[name] = next
            seats[next].previous = previous
        }
        seats[seat].name = nil
        seats[seat].previous = seat
        seats[seat].next = Roll.none
    }

    private mutating func unchainInner(_ seat: Int, _ previous: Int, _ next: Int, _ name: String) {
        seats[previous].next = next
        if next != Roll.none {
            seats[next].previous = previous
        } else if let first = firstOfName[name] {
            seats[first].previous = previous
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
