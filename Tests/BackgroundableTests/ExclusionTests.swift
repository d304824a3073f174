import Foundation
import Testing

@testable import Backgroundable

/// A place for only one operation, which records its visitors and collisions.
private final class Room: Sendable {
    private struct State {
        var inside = 0
        var wasCrowded = false
        var visitors: [Int] = []
    }

    private let state = Box(State())

    var wasCrowded: Bool { state.now.wasCrowded }
    var visitors: [Int] { state.now.visitors }

    func enter(_ visitor: Int) {
        state.change { state in
            state.inside += 1
            state.wasCrowded = state.wasCrowded || state.inside > 1
            state.visitors.append(visitor)
        }
    }

    func leave() {
        state.change { $0.inside -= 1 }
    }

    /// An operation that is in the room while it runs.
    func visit(_ visitor: Int, timeout: TimeInterval = 10) -> AsyncOperation {
        AsyncOperation(timeout: timeout) { own in
            self.enter(visitor)
            inTheGlobalQueue {
                self.leave()
                own.finish()
            }
        }
    }
}

private enum Kitchen {}
private enum Bath {}

@Suite struct ExclusionTests {
    @Test func oneAtATimeFirstComeFirstServedInWhateverQueues() {
        let room = Room()
        let queues = [OperationQueue(), BackgroundQueue(), OperationQueue()]
        let operations = (0..<300).map { number in
            let operation = room.visit(number)
            operation.addCondition(MutuallyExclusive<Kitchen>())
            return operation
        }
        for (number, operation) in operations.enumerated() { queues[number % 3].addOperation(operation) }
        for operation in operations { operation.waitUntilFinished() }
        #expect(!room.wasCrowded)
        #expect(room.visitors == Array(0..<300))
    }

    @Test func categoriesAreDistinguished() {
        let held = Signal()
        let queue = OperationQueue()
        func operation(
            _ condition: some OperationCondition,
            _ closure: @escaping @Sendable () -> Void
        ) -> AsyncOperation {
            let operation = AsyncOperation { own in
                closure()
                own.finish()
            }
            operation.addCondition(condition)
            return operation
        }
        let first = operation(MutuallyExclusive<Kitchen>()) { _ = held.wait() }
        let others = [
            operation(MutuallyExclusive<Bath>()) {}, operation(MutuallyExclusive(category: "Kitchen")) {},
            operation(MutuallyExclusive(category: String(reflecting: Kitchen.self))) {},
        ]
        let same = operation(MutuallyExclusive<Kitchen>()) {}
        queue.addOperation(first)
        queue.addOperation(same)
        queue.addOperations(others, waitUntilFinished: true)
        #expect(!same.isFinished && !first.isFinished)
        held.fire()
        same.waitUntilFinished()
    }

    @Test func overlappingCategoriesAreNoDeadlock() {
        let categories = ["a", "b", "c", "d"]
        let rooms = categories.map { _ in Room() }
        let queues = [OperationQueue(), BackgroundQueue()]
        queues[1].maxConcurrentOperationCount = 1
        let all = DispatchGroup()
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for number in 0..<100 {
                // Two of the four, in either order.
                let one = (thread + number) % 4
                let two = (one + 1 + number % 3) % 4
                let operation = AsyncOperation { own in
                    rooms[one].enter(number)
                    rooms[two].enter(number)
                    inTheGlobalQueue {
                        rooms[one].leave()
                        rooms[two].leave()
                        own.finish()
                    }
                }
                operation.addCondition(MutuallyExclusive(category: categories[one]))
                operation.addCondition(MutuallyExclusive(category: categories[two]))
                operation.addCondition(MutuallyExclusive(category: categories[one]))
                if number.isMultiple(of: 5) { operation.addCondition(BlockCondition { true }) }
                all.enter()
                operation.addFinishedBlock { _, _ in all.leave() }
                queues[number % 2].addOperation(operation)
            }
        }
        #expect(all.wait(timeout: .now() + 120) == .success)
        #expect(rooms.allSatisfy { !$0.wasCrowded })
    }

    @Test func oneThatDependsOnALaterOneOfItsCategoryIsNoDeadlock() {
        let queue = BackgroundQueue()
        queue.maxConcurrentOperationCount = 1
        let room = Room()
        let second = room.visit(2)
        let first = room.visit(1)
        second.addDependency(first)
        for operation in [second, first] {
            operation.addCondition(MutuallyExclusive(category: "dependent"))
            operation.addCondition(NoFailedDependenciesCondition())
        }
        queue.addOperation(second)
        queue.addOperation(first)
        queue.waitUntilAllOperationsAreFinished()
        #expect(room.visitors == [1, 2])
    }

    @Test func everyEndingFreesTheCategory() {
        let queue = BackgroundQueue()
        let lines = MutuallyExclusive(category: "ending")
        func operation(
            timeout: TimeInterval = 0,
            _ closure: @escaping @Sendable (AsyncOperation) -> Void = { _ in }
        )
            -> AsyncOperation
        {
            let operation = AsyncOperation(timeout: timeout, closure)
            operation.addCondition(lines)
            queue.addOperation(operation)
            return operation
        }
        let begun = Signal()
        let running = operation { _ in begun.fire() }
        let waiting = (0..<4).map { _ in operation() }
        let timesOut = operation(timeout: 0.02)
        let last = operation { $0.finish() }
        #expect(begun.wait())
        // From the middle, from the front, and while it runs.
        waiting[1].cancel()
        waiting[0].finish()
        running.cancel()
        waiting[2].cancel()
        waiting[3].cancel()
        last.waitUntilFinished()
        #expect(timesOut.isTimedOut && last.ending == .finished)
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func aFailedConditionTakesNoPosition() {
        let room = Room()
        let queue = OperationQueue()
        let refused = room.visit(1)
        refused.addCondition(MutuallyExclusive(category: "refused"))
        refused.addCondition(BlockCondition { false })
        let other = room.visit(2)
        other.addCondition(MutuallyExclusive(category: "refused"))
        queue.addOperations([refused, other], waitUntilFinished: true)
        #expect(room.visitors == [2])
    }

    @Test func partsOfAGroupDoNotWaitForTheirGroupButForEachOther() {
        let room = Room()
        let parts = (0..<20).map { number in
            let part = room.visit(number)
            part.addCondition(MutuallyExclusive(category: "nested"))
            return part
        }
        let inner = GroupOperation(operations: parts)
        let outer = GroupOperation(operations: [inner])
        outer.addCondition(MutuallyExclusive(category: "nested"))
        let after = room.visit(99)
        after.addCondition(MutuallyExclusive(category: "nested"))
        OperationQueue().addOperations([outer, after], waitUntilFinished: true)
        #expect(!room.wasCrowded)
        #expect(room.visitors == Array(0..<20) + [99])
    }

    @Test func nothingIsLeftBehind() {
        let lines = ExclusiveCategories()
        let operation = AsyncOperation { _ in }
        let turns = Box(0)
        let tickets = (0..<100).map { _ in
            CategoryTicket(["a", "b"], for: operation) { turns.change { $0 += 1 } }
        }
        #expect(tickets.map { lines.getInLine($0) } == [.first] + Array(repeating: .waits, count: 99))
        for number in 10..<60 { lines.leave(tickets[number]) }
        for number in 0..<10 { lines.leave(tickets[number]) }
        #expect(turns.now == 10)
        for number in 60..<100 { lines.leave(tickets[number]) }
        #expect(lines.count == 0 && turns.now == 49)
        lines.leave(tickets[0])
        #expect(lines.getInLine(tickets[0]) == .waits && lines.count == 0)
    }
}
