/// The pending deadlines in a binary heap, earliest first. Cancelled deadlines are removed in bulk.
///
/// Most deadlines are cancelled long before they are due. Cancelling changes only the deadline; the heap removes
/// cancelled entries when it has doubled since the last sweep. So a cancellation costs the heap nothing, an insertion
/// pays for two checks on average, and the heap has at most twice the entries that remained after the last sweep (or
/// ``smallestSweep``).
struct DeadlineHeap: ~Copyable {
    /// Below this number of entries, a sweep is not worth its cost.
    static let smallestSweep = 1_024

    private struct Entry {
        let due: UInt64
        let deadline: Deadline
    }

    private var entries: [Entry] = []
    private var sweepAt = DeadlineHeap.smallestSweep

    /// The number of entries, including cancelled ones.
    var count: Int {
        entries.count
    }

    /// The time of the first entry, which may be cancelled.
    var firstDue: UInt64? {
        entries.first?.due
    }

    mutating func insert(_ deadline: Deadline, due: UInt64) {
        if entries.count >= sweepAt {
            sweep()
        }
        entries.append(Entry(due: due, deadline: deadline))
        siftUp(entries.count - 1)
    }

    /// Removes and returns the first deadline if it is due at `now`. Removes cancelled entries before it.
    mutating func popDue(at now: UInt64) -> Deadline? {
        while let first = entries.first, first.due <= now || first.deadline.isOver {
            removeFirst()
            if !first.deadline.isOver { return first.deadline }
        }
        return nil
    }

    private mutating func removeFirst() {
        guard let last = entries.popLast(), !entries.isEmpty else { return }
        entries[0] = last
        siftDown(0)
    }

    private mutating func sweep() {
        entries.removeAll { $0.deadline.isOver }
        sweepAt = max(DeadlineHeap.smallestSweep, entries.count * 2)
        for index in stride(from: entries.count / 2 - 1, through: 0, by: -1) {
            siftDown(index)
        }
    }

    private mutating func siftUp(_ start: Int) {
        var index = start
        while index > 0 {
            let parent = (index - 1) / 2
            guard entries[index].due < entries[parent].due else { return }
            entries.swapAt(index, parent)
            index = parent
        }
    }

    private mutating func siftDown(_ start: Int) {
        var index = start
        while true {
            var smallest = index
            for child in [2 * index + 1, 2 * index + 2]
            where child < entries.count && entries[child].due < entries[smallest].due {
                smallest = child
            }
            guard smallest != index else { return }
            entries.swapAt(index, smallest)
            index = smallest
        }
    }
}
