import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A target that is watched while a thread runs its work.
protocol WatchedTarget: DeadlineTarget {
    /// The time of the deadline, in ``MonotonicTime``. It must not change while the target is watched.
    var due: UInt64 { get }
}

/// The closures that are currently running, with their deadlines.
///
/// Most operations end before their closure returns, and there are never more running closures than threads. So they
/// need no entry in the timer's heap: the thread stores the operation in this table while it runs the closure, and the
/// timer checks the table when the first of them may be due. That needs no allocation and no lock.
///
/// Unchecked because of the pointer: it is set once, and points to atomics.
final class RunningClosures: @unchecked Sendable {
    /// An entry takes a cache line, so that threads do not slow each other down.
    private struct Place: ~Copyable {
        /// The address of the watched target, or 0. The lowest bit is set while the timer inspects the entry. Until it
        /// is cleared, the running thread does not return, so the target stays alive.
        let target = Atomic<UInt>(0)
        private let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0)
    }

    private static let count = 64
    /// The number of entries that a thread tries.
    private static let tries = 4

    private let places: UnsafeMutablePointer<Place>
    /// When the timer has to check the table: no entry is due before. A thread that adds an earlier entry notifies the
    /// timer.
    private let lookAt = Atomic<UInt64>(.max)

    init() {
        places = .allocate(capacity: RunningClosures.count)
        for place in 0..<RunningClosures.count { (places + place).initialize(to: Place()) }
    }

    deinit {
        places.deinitialize(count: RunningClosures.count)
        places.deallocate()
    }

    /// When the timer has to check the table.
    var firstLook: UInt64 {
        lookAt.load(ordering: .sequentiallyConsistent)
    }

    /// Adds the target that the calling thread is about to run. Returns its entry and whether the timer has to be
    /// notified, or nil if the entries near the thread's own one are taken.
    @inline(__always)
    func write(_ target: some WatchedTarget) -> (place: Int, isFirst: Bool)? {
        let address = UInt(bitPattern: Unmanaged.passUnretained(target).toOpaque())
        let home = RunningClosures.home
        for step in 0..<RunningClosures.tries {
            let place = (home &+ step) & (RunningClosures.count - 1)
            // Sequentially consistent with the load below and the timer's accesses: either the timer sees the target,
            // or this thread sees that the timer would check too late.
            let (isOurs, _) = places[place].target
                .compareExchange(expected: 0, desired: address, ordering: .sequentiallyConsistent)
            if isOurs { return (place, target.due < firstLook) }
        }
        return nil
    }

    /// Removes the target of the calling thread. Returns false if the timer has taken it because it was due.
    @inline(__always)
    func wipe(_ place: Int, _ target: some WatchedTarget) -> Bool {
        let address = UInt(bitPattern: Unmanaged.passUnretained(target).toOpaque())
        while true {
            let (isWiped, found) = places[place].target
                .compareExchange(expected: address, desired: 0, ordering: .acquiringAndReleasing)
            if isWiped { return true }
            if found != address | 1 { return false }
            sched_yield()
        }
    }

    /// Takes the targets that are due, and determines the next check. Called by the timer.
    func takeDue(at now: UInt64) -> [any WatchedTarget] {
        lookAt.store(.max, ordering: .sequentiallyConsistent)
        var due: [any WatchedTarget] = []
        var first = UInt64.max
        for place in 0..<RunningClosures.count {
            look(place, at: now, &due, &first)
        }
        lower(to: first)
        return due
    }

    /// Makes the timer check the table at `moment` at the latest.
    func lower(to moment: UInt64) {
        // The atomic `min` is not used, because it compares unsigned numbers as if they were signed.
        var seen = lookAt.load(ordering: .sequentiallyConsistent)
        while moment < seen {
            let (isLowered, found) =
                lookAt
                .compareExchange(expected: seen, desired: moment, ordering: .sequentiallyConsistent)
            if isLowered { return }
            seen = found
        }
    }

    private func look(_ place: Int, at now: UInt64, _ due: inout [any WatchedTarget], _ first: inout UInt64) {
        let address = places[place].target.load(ordering: .sequentiallyConsistent)
        guard let pointer = UnsafeRawPointer(bitPattern: address) else { return }
        // If the entry has changed, the new target was added after `lookAt` was reset, so its thread notifies the timer
        // itself.
        guard
            places[place].target
                .compareExchange(expected: address, desired: address | 1, ordering: .acquiringAndReleasing).exchanged
        else { return }
        let target = Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue() as? any WatchedTarget
        let isOver = target.map { $0.due <= now } ?? false
        if let target, isOver {
            due.append(target)
        } else if let target {
            first = min(first, target.due)
        }
        places[place].target.store(isOver ? 0 : address, ordering: .releasing)
    }

    /// The entry that the calling thread tries first.
    private static var home: Int {
        #if canImport(Darwin)
            let thread = UInt(bitPattern: pthread_self())
        #else
            let thread = UInt(pthread_self())
        #endif
        // Thread addresses differ by pages and stacks.
        return Int(truncatingIfNeeded: (thread >> 12) ^ (thread >> 20) ^ (thread >> 26))
    }
}
