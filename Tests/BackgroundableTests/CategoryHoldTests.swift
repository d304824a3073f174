import Foundation
import Testing

@testable import Backgroundable

/// Exclusive categories while closures run on after their operation's end.
@Suite struct CategoryHoldTests {
    /// The ways in which an operation ends before its closure returns.
    enum End: CaseIterable {
        case cancelled, timedOut
    }

    /// A closure that records whether another one ran at the same time.
    private final class Room: Sendable {
        let inside = Box(0)
        let wasEntered = Box(false)
        let wasCrowded = Box(false)
        let begun = Signal()
        let held = Signal()

        func stay() {
            enter()
            _ = held.wait(seconds: 600)
            leave()
        }

        func visit() {
            enter()
            leave()
        }

        private func enter() {
            inside.change { $0 += 1 }
            if inside.now > 1 { wasCrowded.change { $0 = true } }
            wasEntered.change { $0 = true }
            begun.fire()
        }

        private func leave() {
            inside.change { $0 -= 1 }
        }
    }

    private func visitor(_ room: Room, _ category: String) -> AsyncOperation {
        let operation = AsyncOperation { own in
            room.visit()
            own.finish()
        }
        operation.addCondition(MutuallyExclusive(category: category))
        return operation
    }

    private func end(_ operation: AsyncOperation, by end: End) {
        switch end {
        case .cancelled: operation.cancel()
        case .timedOut: operation.timeOut(after: 0)
        }
    }

    /// Runs `operation`, ends it or its part `ended` while a closure stays in the room, and checks that no other
    /// closure enters before that one returns.
    ///
    /// - Parameter staying: The part whose closure stays in the room.
    private func expectExclusion(
        of operation: AsyncOperation,
        ending ended: AsyncOperation? = nil,
        staying: Operation? = nil,
        by end: End,
        _ room: Room,
        _ category: String,
        in queues: [OperationQueue] = [BackgroundQueue(), OperationQueue()]
    ) async {
        operation.addCondition(MutuallyExclusive(category: category))
        await onItsOwnThread {
            let waiting = visitor(room, category)
            let late = visitor(room, category)
            queues[0].addOperation(operation)
            #expect(eventually { room.wasEntered.now })
            queues[1].addOperation(waiting)
            // Not by a timeout from the start, which on a busy machine passes before the closure begins.
            self.end(ended ?? operation, by: end)
            operation.waitUntilFinished()
            // Parts are cancelled after their group's timeout. The last one to end would thereby free the category.
            #expect(eventually { staying.map { ($0 as? AsyncOperation)?.isFinished ?? $0.isCancelled } ?? true })
            queues[0].addOperation(late)
            #expect(!waiting.isReady && !late.isReady)
            room.held.fire()
            waiting.waitUntilFinished()
            late.waitUntilFinished()
            #expect(!room.wasCrowded.now)
            #expect(waiting.ending == .finished && late.ending == .finished)
        }
    }

    @Test(arguments: End.allCases) func aClosureThatRunsOnKeepsTheCategory(end: End) async {
        let room = Room()
        let operation = AsyncOperation(timeout: 0) { _ in room.stay() }
        await expectExclusion(of: operation, by: end, room, "closure \(end)")
    }

    @Test(arguments: End.allCases) func soDoesATaskThatRunsOn(end: End) async {
        let room = Room()
        let operation = AsyncOperation(timeout: 0) { _ in
            await withCheckedContinuation { continuation in
                inTheGlobalQueue {
                    room.stay()
                    continuation.resume()
                }
            }
        }
        await expectExclusion(of: operation, by: end, room, "task \(end)")
    }

    @Test(arguments: End.allCases) func aPartThatRunsOnKeepsTheCategoriesOfItsGroups(end: End) async {
        for isPlain in [false, true] {
            let room = Room()
            let part = isPlain ? PlainOperation { room.stay() } : AsyncOperation(timeout: 0) { _ in room.stay() }
            let group = GroupOperation(operations: [GroupOperation(operations: [part])])
            let outer = GroupOperation(operations: [group])
            // A cancelled group waits for its plain part by itself.
            if isPlain, end == .cancelled { continue }
            await expectExclusion(of: outer, staying: part, by: end, room, "group \(end) \(isPlain)")
        }
    }

    @Test func soDoesAPartThatTimesOutInAGroupThatFinishes() async {
        let room = Room()
        let part = AsyncOperation(timeout: 0) { _ in room.stay() }
        let group = GroupOperation(operations: [part])
        await expectExclusion(of: group, ending: part, by: .timedOut, room, "part's timeout")
    }

    @Test func partsWaitForAPartOfTheirCategoryThatRunsOn() {
        let room = Room()
        let first = AsyncOperation(timeout: 0) { _ in room.stay() }
        let second = visitor(room, "parts")
        first.addCondition(MutuallyExclusive(category: "parts"))
        let group = GroupOperation(operations: [first, second])
        group.maxConcurrentOperationCount = 2
        group.addCondition(MutuallyExclusive(category: "parts"))
        OperationQueue().addOperation(group)
        #expect(room.begun.wait())
        end(first, by: .timedOut)
        first.waitUntilFinished()
        #expect(!second.isReady)
        room.held.fire()
        group.waitUntilFinished()
        #expect(!room.wasCrowded.now && second.ending == .finished)
    }

    @Test func finishingGivesTheCategoryUpAtOnce() {
        let room = Room()
        let queue = BackgroundQueue()
        let held = Signal()
        let first = AsyncOperation(timeout: 0) { own in
            own.finish()
            _ = held.wait()
        }
        first.addCondition(MutuallyExclusive(category: "finished"))
        let second = visitor(room, "finished")
        queue.addOperation(first)
        queue.addOperations([second], waitUntilFinished: true)
        #expect(first.isInClosure && second.ending == .finished)
        held.fire()
    }

    @Test(arguments: End.allCases) func anOperationWhoseClosureHasReturnedGivesItUpWhenItEnds(end: End) {
        let queue = BackgroundQueue()
        let first = AsyncOperation(timeout: 0) { _ in }
        first.addCondition(MutuallyExclusive(category: "returned \(end)"))
        let second = visitor(Room(), "returned \(end)")
        queue.addOperations([first, second])
        #expect(eventually { first.isExecuting && !first.isInClosure })
        self.end(first, by: end)
        second.waitUntilFinished()
        #expect(second.ending == .finished)
    }

    @Test(arguments: [false, true]) func aClosureThatNeverReturnsKeepsItForAWhileOnly(isPlainPart: Bool) async throws {
        let queue = BackgroundQueue()
        let room = Room()
        let first =
            isPlainPart
            ? GroupOperation(operations: [PlainOperation { room.stay() }])
            : AsyncOperation(timeout: 0) { _ in room.stay() }
        first.addCondition(MutuallyExclusive(category: "never \(isPlainPart)"))
        let second = visitor(Room(), "never \(isPlainPart)")
        queue.addOperations([first, second])
        #expect(await eventually { room.wasEntered.now })
        let start = MonotonicTime.now
        end(first, by: .timedOut)
        try await second.finished()
        #expect(Double(MonotonicTime.now - start) / 1e9 > 9)
        #expect(second.ending == .finished)
        room.held.fire()
    }

    @Test func endingAtAnyMomentLeavesNoCategoryTaken() {
        let queue = BackgroundQueue()
        let inside = Box(0)
        let wasCrowded = Box(false)
        let operations = (0..<1_000).map { number in
            let operation = AsyncOperation(timeout: number.isMultiple(of: 7) ? 0.000_2 : 10) { own in
                inside.change { $0 += 1 }
                if inside.now > 1 { wasCrowded.change { $0 = true } }
                if number.isMultiple(of: 7) { Thread.sleep(forTimeInterval: 0.000_3) }
                inside.change { $0 -= 1 }
                if number.isMultiple(of: 5) { own.cancel() } else { own.finish() }
            }
            operation.addCondition(MutuallyExclusive(category: "any moment"))
            return operation
        }
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            for number in stride(from: thread, to: operations.count, by: 4) {
                queue.addOperation(operations[number])
                if number.isMultiple(of: 3) { operations[number / 2].cancel() }
            }
        }
        let last = visitor(Room(), "any moment")
        queue.addOperations([last], waitUntilFinished: true)
        queue.waitUntilAllOperationsAreFinished()
        #expect(!wasCrowded.now && last.ending == .finished)
    }
}
