import Foundation
import Synchronization
import Testing

@testable import Backgroundable

private final class Target: WatchedTarget {
    let due: UInt64
    let reached = Signal()

    init(due: UInt64) {
        self.due = due
    }

    func deadlineReached() {
        reached.fire()
    }
}

@Suite struct RunningClosuresTests {
    @Test func whatIsDueIsTakenDownAndTheRestIsLookedAtInTime() {
        let board = RunningClosures()
        let targets = [30, 10, 20].map { Target(due: $0) }
        let places = targets.map { board.write($0)?.place }
        #expect(Set(places).count == 3 && !places.contains(nil))
        board.lower(to: 10)
        board.lower(to: 30)
        #expect(board.firstLook == 10)
        #expect(board.takeDue(at: 5).isEmpty && board.firstLook == 10)
        #expect(board.takeDue(at: 20).map(\.due).sorted() == [10, 20])
        #expect(board.firstLook == 30)
        #expect(zip(places, targets).map { board.wipe($0 ?? 0, $1) } == [true, false, false])
        #expect(board.takeDue(at: .max).isEmpty && board.firstLook == .max)
    }

    @Test func anEarlierEntryMustBeAnnounced() {
        let board = RunningClosures()
        let (late, early) = (Target(due: 20), Target(due: 10))
        #expect(board.write(late)?.isFirst == true)
        board.lower(to: 20)
        #expect(board.write(early)?.isFirst == true)
        board.lower(to: 10)
        #expect(board.write(Target(due: 15))?.isFirst == false)
    }

    @Test func thereIsRoomForAFewPerThreadAndThenNone() {
        let board = RunningClosures()
        let target = Target(due: 1)
        let places = (0..<5).map { _ in board.write(target)?.place }
        #expect(places.prefix(4).allSatisfy { $0 != nil } && places[4] == nil)
        #expect(places[0].map { board.wipe($0, target) } == true)
        #expect(board.write(target) != nil)
    }

    @Test func aTimerCallsWhatItWatchesWhenItIsDue() {
        let timer = DeadlineTimer()
        let patient = Target(due: MonotonicTime.now + 3_600_000_000_000)
        let prompt = Target(due: MonotonicTime.now + 20_000_000)
        let places = [patient, prompt].map { timer.watch($0) ?? -1 }
        #expect(prompt.reached.wait())
        #expect(MonotonicTime.now >= prompt.due)
        #expect(!timer.endWatch(places[1], prompt) && timer.endWatch(places[0], patient))
        #expect(!patient.reached.wait(seconds: 0))
    }

    /// Threads write and remove entries continuously while the timer scans; no entry is called twice, or after its
    /// removal.
    @Test func everyEntryIsEitherCalledOrRemoved() {
        let timer = DeadlineTimer()
        let wrong = Atomic<Int>(0)
        let called = Atomic<Int>(0)
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for number in 0..<3_000 {
                let target = Target(due: MonotonicTime.now + UInt64((number + thread) % 7) * 2_000)
                guard let place = timer.watch(target) else { continue }
                if number.isMultiple(of: 3) { sched_yield() }
                let isWiped = timer.endWatch(place, target)
                if !isWiped {
                    called.add(1, ordering: .relaxed)
                    if !target.reached.wait() { wrong.add(1, ordering: .relaxed) }
                }
                if target.reached.wait(seconds: 0) { wrong.add(1, ordering: .relaxed) }
            }
        }
        #expect(wrong.load(ordering: .relaxed) == 0)
        #expect(called.load(ordering: .relaxed) > 0)
    }
}
