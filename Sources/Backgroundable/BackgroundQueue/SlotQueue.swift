import Dispatch

/// A queue of a fixed number of slots, for operations that need nothing else of a queue: they have no name, no
/// dependencies and no conditions, and start in the order in which they were added.
///
/// Foundation's queue makes a work item of each operation and passes it to another thread. Here the thread that has run an
/// operation to its end takes the next one itself, for a while, and operations that do not block a thread are begun by the
/// thread that adds them or frees their slot. As in Foundation's queue, an operation that was cancelled or has timed out
/// frees its slot at once, even if its code still runs.
package final class SlotQueue: Sendable {
    private struct State: ~Copyable {
        var waiting = WaitingOperations()
        var free: Int
    }

    /// How long a thread runs operations before others that wait for one have their turn, in nanoseconds: Swift's tasks
    /// share the threads.
    private static let turn: UInt64 = 200_000

    private let state: Locked<State>
    private let threads: DispatchQueue

    /// Creates a queue.
    ///
    /// - Parameters:
    ///   - slots: How many operations may run at the same time, at least one.
    ///   - label: The name of its threads, for debuggers.
    package init(slots: Int, label: String) {
        state = Locked(State(free: max(1, slots)))
        threads = DispatchQueue(label: label, qos: .default, attributes: .concurrent)
    }

    /// Adds operations that were created for this queue, each once.
    package func add(_ operations: [SlotOperation]) {
        let taken = state.withLock { state in
            state.waiting.append(operations)
            let taken = min(state.free, operations.count)
            state.free -= taken
            return taken
        }
        for _ in 0..<taken { fillSlot() }
    }

    /// Begins the next operations in a slot, on this thread if they do not block it.
    func fillSlot() {
        while true {
            switch next(mayBlock: false) {
            case .operation(let operation): guard operation.runInSlot() else { return }
            case .another: return fillSlotElsewhere()
            case .none: return
            }
        }
    }

    /// Begins the next operations in a slot on a thread of the queue.
    func fillSlotElsewhere() {
        threads.async { self.serve() }
    }

    /// Runs operations in one slot, one after the other, until none waits or one of them keeps the slot.
    private func serve() {
        let end = MonotonicTime.now + Self.turn
        while case .operation(let operation) = next(mayBlock: true) {
            guard operation.runInSlot() else { return }
            if MonotonicTime.now >= end { return fillSlotElsewhere() }
        }
    }

    private enum Next {
        case operation(SlotOperation)
        /// It waits for a thread that it may block.
        case another
        case none
    }

    /// Takes the operation that waits longest, unless it may block and the caller must not; if none waits, the slot of the
    /// caller becomes free.
    private func next(mayBlock: Bool) -> Next {
        state.withLock { state in
            guard let first = state.waiting.first else {
                state.free += 1
                return .none
            }
            guard mayBlock || !first.mayBlock else { return .another }
            state.waiting.removeFirst()
            return .operation(first)
        }
    }
}

/// Operations in the order of their addition.
private struct WaitingOperations {
    private var operations: [SlotOperation?] = []
    /// The index of the first one that waits.
    private var start = 0

    var first: SlotOperation? { start < operations.count ? operations[start] : nil }

    mutating func append(_ added: [SlotOperation]) {
        for operation in added { operations.append(operation) }
    }

    /// Removes the first one, if there is one.
    mutating func removeFirst() {
        guard start < operations.count else { return }
        operations[start] = nil
        start += 1
        if start == operations.count {
            operations.removeAll(keepingCapacity: operations.count <= 1_024)
            start = 0
        } else if start > 1_024, start > operations.count / 2 {
            operations.removeFirst(start)
            start = 0
        }
    }
}
