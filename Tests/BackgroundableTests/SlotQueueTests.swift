import Foundation
import Synchronization
import Testing

@testable import Backgroundable

/// The queue in which a worker's jobs run.
@Suite struct SlotQueueTests {
    /// How an operation of these tests ends.
    enum Ending: CaseIterable {
        case onItsThread, elsewhereBeforeTheReturn, elsewhereAfterTheReturn, cancelledBefore, cancelledMeanwhile
        case timedOutOnItsThread, timedOutAfterTheReturn

        var blocks: Bool { self == .elsewhereBeforeTheReturn || self == .timedOutOnItsThread }
        var timeout: Double { self == .timedOutOnItsThread || self == .timedOutAfterTheReturn ? 0.001 : 0 }
    }

    /// The number of operations that hold a slot, and the most that ever did.
    final class Slots: Sendable {
        private let counts = Locked((now: 0, most: 0))

        func enter() {
            counts.withLock { counts in
                counts.now += 1
                counts.most = max(counts.most, counts.now)
            }
        }

        func leave() { counts.withLock { $0.now -= 1 } }

        var now: Int { counts.withLock { $0.now } }
        var most: Int { counts.withLock { $0.most } }
    }

    final class Work: SlotWork {
        private let slots: Slots
        /// Whether it has a slot, and whether it has left it. It may time out before its work begins.
        private let place = Locked((isIn: false, hasLeft: false))
        private let body: @Sendable (Work, SlotOperation) -> Void
        let timeouts = Atomic(0)
        let timeIsOver = Signal()
        let mayBlock: Bool

        init(
            _ slots: Slots = Slots(),
            mayBlock: Bool = true,
            _ body: @escaping @Sendable (Work, SlotOperation) -> Void
        ) {
            self.slots = slots
            self.mayBlock = mayBlock
            self.body = body
        }

        func begin(_ operation: SlotOperation) {
            place.withLock { place in
                guard !place.hasLeft else { return }
                place.isIn = true
                slots.enter()
            }
            body(self, operation)
        }

        func timedOut() {
            timeouts.add(1, ordering: .relaxed)
            leave()
            timeIsOver.fire()
        }

        func leave() {
            place.withLock { place in
                if place.isIn { slots.leave() }
                place = (isIn: false, hasLeft: true)
            }
        }
    }

    private func operations(
        _ count: Int,
        in queue: SlotQueue,
        _ body: @escaping @Sendable (Int) -> Void
    ) -> [SlotOperation] {
        (0..<count).map { number in
            let work = Work { _, operation in
                body(number)
                operation.finish()
            }
            return SlotOperation(timeout: 0, work: work, in: queue)
        }
    }

    @Test func operationsStartInTheOrderOfTheirAddition() {
        let queue = SlotQueue(slots: 1, label: "order")
        let order = Box<[Int]>([])
        let all = operations(5_000, in: queue) { number in order.change { $0.append(number) } }
        for first in stride(from: 0, to: all.count, by: 100) { queue.add(Array(all[first..<first + 100])) }
        #expect(eventually { all.allSatisfy(\.hasEnded) })
        #expect(order.now == Array(0..<5_000))
    }

    @Test func anOperationThatOverrunsFreesItsSlot() {
        let queue = SlotQueue(slots: 1, label: "overrun")
        let (began, release) = (Signal(), Signal())
        let stuck = Work { _, operation in
            began.fire()
            _ = release.wait()
            operation.finish()
        }
        let first = SlotOperation(timeout: 0.01, work: stuck, in: queue)
        queue.add([first])
        #expect(began.wait())
        let next = operations(3, in: queue) { _ in }
        queue.add(next)
        #expect(eventually { next.allSatisfy(\.hasEnded) })
        #expect(first.hasEnded && stuck.timeouts.load(ordering: .relaxed) == 1)
        release.fire()
    }

    @Test func anOperationThatEndedBeforeItsTurnLeavesWithItsTurn() {
        let queue = SlotQueue(slots: 1, label: "ended")
        let (began, release) = (Signal(), Signal())
        let calls = Box(0)
        let first = SlotOperation(
            timeout: 0,
            work: Work { _, operation in
                began.fire()
                _ = release.wait()
                operation.finish()
            },
            in: queue
        )
        let others = operations(3, in: queue) { _ in calls.change { $0 += 1 } }
        queue.add([first] + others)
        #expect(began.wait())
        others[0].cancel()
        others[1].finish()
        // They have no slot to free.
        #expect(!others[2].hasEnded)
        release.fire()
        #expect(eventually { others.allSatisfy(\.hasEnded) })
        #expect(calls.now == 1)
    }

    @Test func whatDoesNotBlockBeginsOnTheThreadThatAddsItOrFreesItsSlot() {
        let queue = SlotQueue(slots: 1, label: "here")
        let threads = Box<[ObjectIdentifier]>([])
        let here = ObjectIdentifier(Thread.current)
        let all = (0..<3).map { _ in
            let work = Work(mayBlock: false) { _, _ in threads.change { $0.append(ObjectIdentifier(Thread.current)) } }
            return SlotOperation(timeout: 0, work: work, in: queue)
        }
        queue.add(all)
        #expect(threads.now == [here])
        all[0].finish()
        #expect(threads.now == [here, here])
        let other = Thread { all[1].finish() }
        other.start()
        #expect(eventually { threads.now.count == 3 })
        #expect(threads.now.last == ObjectIdentifier(other))
        all[2].finish()
    }

    /// Operations that end in every way; afterwards there are as many slots as before.
    @Test(arguments: [1, 4, 64]) func noSlotIsLostOrTakenTwice(count: Int) async {
        let queue = SlotQueue(slots: count, label: "storm")
        let slots = Slots()
        let all = (0..<3_500).map { number in operation(number, Ending.allCases[number % 7], slots, in: queue) }
        for first in stride(from: 0, to: all.count, by: 70) { queue.add(Array(all[first..<first + 70])) }
        #expect(await eventually { all.allSatisfy(\.hasEnded) })
        #expect(await eventually { slots.now == 0 })
        // Nothing blocks, so each slot is filled at once.
        let begun = Box<[(Work, SlotOperation)]>([])
        let last = (0...count).map { _ in
            let work = Work(slots, mayBlock: false) { own, operation in begun.change { $0.append((own, operation)) } }
            return SlotOperation(timeout: 0, work: work, in: queue)
        }
        queue.add(last)
        // The thread of the last one that ended may not have left its slot yet.
        #expect(await eventually { begun.now.count >= count })
        #expect(begun.now.count == count)
        for number in 0...count where number < begun.now.count {
            let (work, operation) = begun.now[number]
            work.leave()
            operation.finish()
        }
        #expect(!last.contains { !$0.hasEnded })
        #expect(slots.most == count && slots.now == 0)
    }

    private func operation(_ number: Int, _ ending: Ending, _ slots: Slots, in queue: SlotQueue) -> SlotOperation {
        let work = Work(slots, mayBlock: ending.blocks || number.isMultiple(of: 2)) { own, operation in
            switch ending {
            case .onItsThread, .cancelledBefore:
                own.leave()
                operation.finish()
            case .elsewhereBeforeTheReturn:
                let ended = Signal()
                Self.elsewhere {
                    own.leave()
                    operation.finish()
                    ended.fire()
                }
                _ = ended.wait()
            case .elsewhereAfterTheReturn:
                Self.elsewhere {
                    own.leave()
                    operation.finish()
                }
            case .cancelledMeanwhile:
                own.leave()
                operation.cancel()
            case .timedOutAfterTheReturn: break
            case .timedOutOnItsThread:
                _ = own.timeIsOver.wait()
            }
        }
        let operation = SlotOperation(timeout: ending.timeout, work: work, in: queue)
        if ending == .cancelledBefore { operation.cancel() }
        return operation
    }

    private static func elsewhere(_ body: @escaping @Sendable () -> Void) {
        // Not on a thread of the pool: operations that wait for it may occupy all of them.
        Thread { body() }.start()
    }
}
