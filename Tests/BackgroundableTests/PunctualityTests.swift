import Foundation
import Synchronization
import Testing

@testable import Backgroundable

extension LoadTests {
    @Suite struct PunctualityTests {
        /// Half of them at least are within 20 ms of their time, beyond what a thread that only sleeps is late at the
        /// same time, so that the test does not fail on a busy machine.
        @Test func everyOneOfAHundredThousandDeadlinesIsReachedOnTime() {
            let timer = DeadlineTimer()
            let total = 100_000
            let lateness = Box<[Int64]>([])
            let done = Signal()
            let sleeper = Sleeper()
            for number in 0..<total {
                // Not in order of time, so that the heap has to sort.
                let span = Duration.milliseconds(2_000 + (number * 7_919) % 10_000)
                let due = MonotonicTime.now + UInt64(span / .nanoseconds(1))
                _ = timer.schedule(after: span) {
                    let late = Int64(MonotonicTime.now) - Int64(due)
                    lateness.change { entries in
                        entries.append(late)
                        if entries.count == total { done.fire() }
                    }
                }
            }
            #expect(done.wait(seconds: 60))
            let sorted = lateness.now.sorted()
            let allowance = sleeper.stop()
            #expect(sorted.count == total)
            #expect(sorted[0] >= 0)
            #expect(sorted[total / 2] < 20_000_000 + allowance)
        }
    }
}

/// A thread that only sleeps, and records how late it wakes up.
private final class Sleeper: Sendable {
    private let lateness = Box<[Int64]>([])
    private let isOver = Atomic<Bool>(false)
    private let ended = Signal()

    init() {
        Thread { self.run() }.start()
    }

    /// Ends the thread. Returns the 95th percentile of its delays, in nanoseconds.
    func stop() -> Int64 {
        isOver.store(true, ordering: .releasing)
        _ = ended.wait()
        let sorted = lateness.now.sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count * 95 / 100]
    }

    private func run() {
        while !isOver.load(ordering: .acquiring) {
            let due = MonotonicTime.now + 1_000_000
            Thread.sleep(forTimeInterval: 0.001)
            let late = Int64(MonotonicTime.now) - Int64(due)
            lateness.change { $0.append(late) }
        }
        ended.fire()
    }
}
