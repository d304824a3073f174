import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// What a thread is busy with, and until when it may be.
protocol WatchedTarget: DeadlineTarget {
    /// When its time is over, in ``MonotonicTime``. It must not change while it is watched.
    var due: UInt64 { get }
}

/// The closures that run just now.
///
/// Most operations end before their closure returns. There are never more such closures than threads, so they need no place
/// in the timer's heap: the thread writes the operation on the board while it is busy with it, and the timer looks at the
/// board when the first of them may be due. That costs no memory and no lock.
///
/// Unchecked because of the pointer: it is set once, and what it points to is atomic.
final class RunningClosures: @unchecked Sendable {
    /// One line of memory each, so that threads do not disturb each other.
    private struct Place: ~Copyable {
        /// The address of what is watched, or 0. The lowest bit is set while the timer looks at it: until it is cleared the
        /// busy thread does not leave, so what is there stays alive.
        let target = Atomic<UInt>(0)
        private let padding: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0)
    }

    private static let count = 64
    /// How many places a thread tries before it gives up.
    private static let tries = 4

    private let places: UnsafeMutablePointer<Place>
    /// When the timer has to look: nothing on the board is due before. Whoever writes something that is due earlier tells
    /// the timer.
    private let lookAt = Atomic<UInt64>(.max)

    init() {
        places = .allocate(capacity: RunningClosures.count)
        for place in 0..<RunningClosures.count { (places + place).initialize(to: Place()) }
    }

    deinit {
        places.deinitialize(count: RunningClosures.count)
        places.deallocate()
    }

    /// When the timer has to look.
    var firstLook: UInt64 {
        lookAt.load(ordering: .sequentiallyConsistent)
    }

    /// Writes down what the calling thread is about to be busy with. Returns where, or nil if there is no room near the
    /// thread's own place, and whether the timer has to be told.
    @inline(__always)
    func write(_ target: some WatchedTarget) -> (place: Int, isFirst: Bool)? {
        let address = UInt(bitPattern: Unmanaged.passUnretained(target).toOpaque())
        let home = RunningClosures.home
        for step in 0..<RunningClosures.tries {
            let place = (home &+ step) & (RunningClosures.count - 1)
            // In one order for all with the load below and the timer's: either it sees the target, or this sees that
            // the timer looks too late.
            let (isOurs, _) = places[place].target
                .compareExchange(expected: 0, desired: address, ordering: .sequentiallyConsistent)
            if isOurs { return (place, target.due < firstLook) }
        }
        return nil
    }

    /// Wipes out what the thread was busy with. False if the timer has taken it down because its time was over.
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

    /// Takes down what is due, and notes when to look again. For the timer.
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

    /// Sees to it that the timer looks at `moment` at the latest.
    func lower(to moment: UInt64) {
        // Not the atomic's own `min`: for unsigned numbers it compares as if they were signed.
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
        // Somebody else's by now: it was written after the note of when to look was taken away, and tells us itself.
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

    /// Where the calling thread looks for a place first.
    private static var home: Int {
        #if canImport(Darwin)
            let thread = UInt(bitPattern: pthread_self())
        #else
            let thread = UInt(pthread_self())
        #endif
        // Threads lie pages and stacks apart.
        return Int(truncatingIfNeeded: (thread >> 12) ^ (thread >> 20) ^ (thread >> 26))
    }
}
