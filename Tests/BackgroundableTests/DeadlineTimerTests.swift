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
}
