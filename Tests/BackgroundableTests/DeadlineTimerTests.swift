import Foundation
import Testing

@testable import Backgroundable

@Suite struct DeadlineTimerTests {
    @Test func firesOnceNeverEarly() {
        let timer = DeadlineTimer()
        let fired = Signal()
        let begin = MonotonicTime.now
        let deadline = timer.schedule(after: .milliseconds(50)) { fired.fire() }
        #expect(fired.wait())
        #expect(MonotonicTime.now - begin >= 50_000_000)
        #expect(deadline.isOver)
        #expect(!fired.wait(seconds: 0.1))
    }

    @Test func aLaterDeadlineDoesNotHoldUpAnEarlierOne() {
        let timer = DeadlineTimer()
        let early = Signal()
        let late = timer.schedule(after: .seconds(3_600)) {}
        Thread.sleep(forTimeInterval: 0.05)
        _ = timer.schedule(after: .milliseconds(10)) { early.fire() }
        #expect(early.wait())
        #expect(!late.isOver)
    }

    @Test func aCancelledDeadlineNeverFiresAndLetsGoOfItsTarget() {
        final class Payload: Sendable {}
        let timer = DeadlineTimer()
        weak var payload: Payload?
        let fired = Signal()
        do {
            let captured = Payload()
            payload = captured
            let deadline = timer.schedule(after: .milliseconds(30)) {
                withExtendedLifetime(captured) { fired.fire() }
            }
            deadline.cancel()
            deadline.cancel()
            #expect(deadline.isOver)
        }
        #expect(payload == nil)
        #expect(!fired.wait(seconds: 0.1))
    }

    @Test func cancelledDeadlinesDoNotPileUp() {
        let timer = DeadlineTimer()
        let kept = (0..<100).map { _ in timer.schedule(after: .seconds(3_600)) {} }
        var most = 0
        for _ in 0..<100_000 {
            timer.schedule(after: .seconds(3_600)) {}.cancel()
            most = max(most, timer.count)
        }
        #expect(most <= DeadlineHeap.smallestSweep + 1)
        #expect(kept.allSatisfy { !$0.isOver })
    }

    @Test func aBlockedPoolDoesNotDelayIt() {
        let timer = DeadlineTimer()
        let held = Signal()
        let hogs = 64
        for _ in 0..<hogs { inTheGlobalQueue { _ = held.wait() } }
        let fired = Signal()
        _ = timer.schedule(after: .milliseconds(10)) { fired.fire() }
        #expect(fired.wait(seconds: 5))
        for _ in 0..<hogs { held.fire() }
    }

    @Test func theHeapReturnsItsElementsInOrder() {
        var heap = DeadlineHeap()
        let deadlines = (0..<5_000).map { _ in Deadline(target: DeadlineAction {}) }
        var random = SystemRandomNumberGenerator()
        let dues = deadlines.map { _ in UInt64.random(in: 0..<1_000_000, using: &random) }
        for (deadline, due) in zip(deadlines, dues) { heap.insert(deadline, due: due) }
        for (index, deadline) in deadlines.enumerated() where index.isMultiple(of: 3) { deadline.cancel() }
        for index in deadlines.indices {
            heap.insert(Deadline(target: DeadlineAction {}), due: 2_000_000 + UInt64(index))
        }
        var expected = dues.enumerated().filter { !$0.offset.isMultiple(of: 3) }.map(\.element).sorted()[...]
        let dueOf = Dictionary(uniqueKeysWithValues: zip(deadlines.map(ObjectIdentifier.init), dues))
        while let deadline = heap.popDue(at: 1_000_000) {
            #expect(dueOf[ObjectIdentifier(deadline)] == expected.popFirst())
        }
        #expect(expected.isEmpty)
    }

    /// All are scheduled by the first one, on the timer's thread, so that none is called before the last is in the
    /// heap. How late they are is up to the machine: `BackgroundableBench` measures it.
    @Test func aHundredThousandDeadlinesAreReachedInOrderAndNeverEarly() {
        let timer = DeadlineTimer()
        let total = 100_000
        let log = DueLog(total: total)
        _ = timer.schedule(after: .milliseconds(1)) {
            let start = MonotonicTime.now
            for number in 0..<total {
                // Not in order of time, so that the heap has to sort.
                let due = start + UInt64(number * 7_919 % total) * 10_000
                _ = timer.schedule(LoggedTarget(due: due, log: log))
            }
        }
        #expect(log.isFull.wait(seconds: 60))
        let calls = log.calls.now
        #expect(calls.count == total)
        #expect(calls.allSatisfy { $0.due <= $0.time })
        #expect(zip(calls, calls.dropFirst()).allSatisfy { $0.due < $1.due })
    }
}

/// The time and the due time of each deadline that was reached, in order.
private final class DueLog: Sendable {
    let calls = Box<[(due: UInt64, time: UInt64)]>([])
    let isFull = Signal()
    private let total: Int

    init(total: Int) {
        self.total = total
    }

    func note(due: UInt64) {
        calls.change { calls in
            calls.append((due, MonotonicTime.now))
            if calls.count == total { isFull.fire() }
        }
    }
}

private final class LoggedTarget: WatchedTarget {
    let due: UInt64
    private let log: DueLog

    init(due: UInt64, log: DueLog) {
        self.due = due
        self.log = log
    }

    func deadlineReached() {
        log.note(due: due)
    }
}
