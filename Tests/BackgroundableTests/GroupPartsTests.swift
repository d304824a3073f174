import Foundation
import Testing

@testable import Backgroundable

/// Groups can be suspended and listed, and pass on their quality of service.
@Suite struct GroupPartsTests {
    private let queue = BackgroundQueue()

    private static func part(_ name: String, _ log: Box<[String]> = Box([])) -> AsyncOperation {
        AsyncOperation(name: name, timeout: 0) { own in
            log.change { $0.append(name) }
            own.finish()
        }
    }

    @Test func `a suspended group starts no part until it is resumed`() async throws {
        let log = Box<[String]>([])
        let group = GroupOperation(operations: [Self.part("a", log)])
        group.isSuspended = true
        group.isSuspended = true
        queue.addOperation(group)
        #expect(await eventually { group.isExecuting })
        group.addOperation(Self.part("b", log))
        #expect(group.isSuspended && log.now.isEmpty)
        group.isSuspended = false
        try await group.finished()
        #expect(!group.isSuspended && log.now.sorted() == ["a", "b"])
    }

    @Test func `a part in a task adds to its group, whose queue is not the current one there`() async throws {
        let log = Box<[String]>([])
        let group = GroupOperation()
        group.addOperation(
            AsyncOperation(timeout: 0) { [weak group] in
                await Task.yield()
                #expect(OperationQueue.current == nil)
                group?.addOperation(Self.part("added", log))
            }
        )
        queue.addOperation(group)
        try await group.finished()
        #expect(log.now == ["added"])
    }

    @Test func `a suspended group that is cancelled or times out ends, and so do its parts`() async throws {
        for timesOut in [true, false] {
            let parts = [Self.part("a"), Self.part("b")]
            let group = GroupOperation(timeout: timesOut ? 0.02 : 0, operations: parts)
            group.isSuspended = true
            queue.addOperation(group)
            #expect(await eventually { group.isExecuting || group.isFinished })
            if !timesOut { group.cancel() }
            try await group.finished()
            for part in parts { try await part.finished() }
            #expect(parts.map(\.isCancelled) == [true, true])
            #expect(await eventually { !group.isSuspended && group.operations.isEmpty })
            group.isSuspended = true
            #expect(!group.isSuspended)
        }
    }

    @Test func `a group that is suspended and resumed by many at once does not stay suspended`() async throws {
        for _ in 0..<50 {
            let group = GroupOperation(operations: [Self.part("a")])
            DispatchQueue.concurrentPerform(iterations: 20) { group.isSuspended = $0.isMultiple(of: 2) }
            group.isSuspended = false
            queue.addOperation(group)
            try await group.finished()
        }
    }

    @Test func `a group lists the parts that have not finished, in their order`() async throws {
        let held = Signal()
        let parts = (0..<20).map { number in
            AsyncOperation(name: "\(number)", timeout: 0) { own in
                if number == 0 { _ = held.wait(seconds: 600) }
                own.finish()
            }
        }
        let group = GroupOperation(operations: Array(parts[..<10]))
        group.maxConcurrentOperationCount = 1
        group.addOperations(Array(parts[10...]))
        #expect(group.operations == parts)
        queue.addOperation(group)
        #expect(await eventually { parts[0].isExecuting })
        let late = Self.part("late")
        group.addOperation(late)
        #expect(group.operations == parts + [late])
        held.fire()
        try await group.finished()
        #expect(group.operations.isEmpty)
    }

    @Test func `parts have the quality of service of their group, or of the queue that the group is in`() async throws {
        let log = Box<[TaskPriority]>([])
        func part() -> AsyncOperation {
            AsyncOperation(timeout: 0) { _ in
                await Task.yield()
                log.change { $0.append(Task.currentPriority) }
            }
        }
        let own = GroupOperation(operations: [part(), GroupOperation(operations: [part()])])
        own.qualityOfService = .background
        queue.addOperation(own)
        try await own.finished()
        let inherited = GroupOperation(operations: [part()])
        let different = part()
        different.qualityOfService = .userInitiated
        inherited.addOperation(different)
        inherited.maxConcurrentOperationCount = 1
        let low = BackgroundQueue()
        low.qualityOfService = .utility
        low.addOperation(inherited)
        try await inherited.finished()
        #expect(log.now == [.background, .background, .utility, .userInitiated])
    }

    @Test func `a retry's attempts have its quality of service`() async throws {
        let log = Box<[TaskPriority]>([])
        let retry = RetryOperation(attempts: 2, delay: .immediate) { attempt in
            AsyncOperation(timeout: 0) { _ in
                await Task.yield()
                log.change { $0.append(Task.currentPriority) }
                if attempt == 1 { throw Mishap("again") }
            }
        }
        retry.qualityOfService = .background
        queue.addOperation(retry)
        try await retry.succeeded()
        #expect(log.now == [.background, .background])
    }
}
