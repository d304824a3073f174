/// Ids in the order of a time, such as their due time; ids with the same time are in alphabetical order.
///
/// It is a binary heap in which the entry of a removed id remains until it reaches the root, or until such entries are
/// the majority.
package struct TimedIDs: Sendable, Equatable {
    private struct Entry: Comparable {
        let time: Int64
        let id: String

        static func < (left: Entry, right: Entry) -> Bool {
            left.time == right.time ? left.id < right.id : left.time < right.time
        }
    }

    private var times: [String: Int64] = [:]
    private var heap: [Entry] = []

    package static func == (left: TimedIDs, right: TimedIDs) -> Bool { left.times == right.times }

    package var count: Int { times.count }
    package subscript(id: String) -> Int64? { times[id] }

    /// All ids, earliest first.
    var sorted: [String] {
        times.map { Entry(time: $0.value, id: $0.key) }.sorted().map(\.id)
    }

    mutating func insert(_ id: String, at time: Int64) {
        times[id] = time
        heap.append(Entry(time: time, id: id))
        siftUp(heap.count - 1)
        dropRemovedEntries()
    }

    mutating func remove(_ id: String) {
        times[id] = nil
        if times.isEmpty { heap.removeAll(keepingCapacity: true) }
    }

    /// Returns the earliest id and its time.
    mutating func first() -> (id: String, time: Int64)? {
        while let entry = heap.first {
            if times[entry.id] == entry.time { return (entry.id, entry.time) }
            removeRoot()
        }
        return nil
    }

    private mutating func dropRemovedEntries() {
        guard heap.count > 2 * times.count + 64 else { return }
        heap = times.map { Entry(time: $0.value, id: $0.key) }.sorted()
    }

    private mutating func removeRoot() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        siftDown()
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0, heap[child] < heap[(child - 1) / 2] {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
    }

    private mutating func siftDown() {
        var parent = 0
        while true {
            let left = 2 * parent + 1
            guard left < heap.count else { return }
            let smaller = left + 1 < heap.count && heap[left + 1] < heap[left] ? left + 1 : left
            guard heap[smaller] < heap[parent] else { return }
            heap.swapAt(smaller, parent)
            parent = smaller
        }
    }
}
