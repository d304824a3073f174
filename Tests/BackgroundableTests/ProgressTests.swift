import Foundation
import Testing

@testable import Backgroundable

/// The progress of a background queue is that of Foundation's queue, whatever the operations are.
@Suite struct ProgressTests {
    /// Kinds of operations, each with running code.
    enum Kind: CaseIterable {
        case block, plain, closure, own, late, task, continuation, group

        func add(to queue: OperationQueue) {
            switch self {
            case .closure: queue.addOperation {}
            default: queue.addOperations([make()], waitUntilFinished: false)
            }
        }

        func make() -> Operation {
            switch self {
            case .block, .closure: BlockOperation {}
            case .plain: PlainOperation()
            case .own: AsyncOperation { $0.finish() }
            case .late: AsyncOperation { own in inTheGlobalQueue { own.finish() } }
            case .task: AsyncOperation(timeout: 0) { _ in await Task.yield() }
            case .continuation: ContinuationOperation { continuation in continuation(Mishap("failed")) }
            case .group: GroupOperation(operations: [PlainOperation(), AsyncOperation { $0.finish() }])
            }
        }
    }

    /// The actions on a queue, and the ways of making and adding operations.
    private typealias Scenario = @Sendable (OperationQueue, Kind) -> Void

    private static let scenarios: [String: Scenario] = [
        "all": { queue, kind in
            queue.progress.totalUnitCount = 3
            for _ in 0..<3 { kind.add(to: queue) }
        },
        "more than announced": { queue, kind in
            queue.progress.totalUnitCount = 2
            for _ in 0..<5 { kind.add(to: queue) }
        },
        "never announced": { queue, kind in kind.add(to: queue) },
        "looked at, never announced": { queue, kind in
            _ = queue.progress.fractionCompleted
            kind.add(to: queue)
        },
        "nothing announced": { queue, kind in
            queue.progress.totalUnitCount = 0
            for _ in 0..<2 { kind.add(to: queue) }
        },
        "indeterminate": { queue, kind in
            queue.progress.totalUnitCount = -1
            for _ in 0..<2 { kind.add(to: queue) }
        },
        "announced after some": { queue, kind in
            kind.add(to: queue)
            queue.waitUntilAllOperationsAreFinished()
            queue.progress.totalUnitCount = 2
            kind.add(to: queue)
        },
        "announced after adding": { queue, kind in
            queue.isSuspended = true
            for _ in 0..<2 { kind.add(to: queue) }
            queue.progress.totalUnitCount = 2
            queue.isSuspended = false
        },
        "announced again": { queue, kind in
            queue.progress.totalUnitCount = 2
            for _ in 0..<2 { kind.add(to: queue) }
            queue.waitUntilAllOperationsAreFinished()
            queue.progress.totalUnitCount = 8
            for _ in 0..<2 { kind.add(to: queue) }
        },
        "cancelled before": { queue, kind in
            queue.progress.totalUnitCount = 3
            queue.isSuspended = true
            let cancelled = kind.make()
            queue.addOperation(cancelled)
            kind.add(to: queue)
            cancelled.cancel()
            queue.isSuspended = false
        },
        "cancelled all": { queue, kind in
            queue.progress.totalUnitCount = 3
            queue.isSuspended = true
            for _ in 0..<3 { kind.add(to: queue) }
            queue.cancelAllOperations()
            queue.isSuspended = false
        },
        "barriers": { queue, kind in
            queue.progress.totalUnitCount = 4
            queue.isSuspended = true
            kind.add(to: queue)
            queue.addBarrierBlock {}
            kind.add(to: queue)
            queue.addBarrierBlock {}
            queue.isSuspended = false
        },
        "counted by hand": { queue, kind in
            queue.progress.totalUnitCount = 10
            queue.progress.completedUnitCount = 5
            kind.add(to: queue)
        },
        "a line": { queue, kind in
            queue.progress.totalUnitCount = 3
            queue.addSequentialOperations([kind.make(), kind.make()], waitUntilFinished: false)
        },
    ]

    /// The final state of a progress.
    private func end(
        _ queue: OperationQueue,
        _ run: @escaping @Sendable (OperationQueue) -> Void
    ) async throws -> String {
        queue.maxConcurrentOperationCount = 1
        let parent = Progress(totalUnitCount: 7)
        parent.addChild(queue.progress, withPendingUnitCount: 7)
        await onItsOwnThread { run(queue) }
        try await queue.drained()
        let progress = queue.progress
        return "\(progress.completedUnitCount) of \(progress.totalUnitCount), \(progress.fractionCompleted), "
            + "\(progress.isFinished) \(progress.isIndeterminate), parent \(parent.completedUnitCount)"
    }

    @Test(arguments: Kind.allCases) func itIsThatOfFoundation(kind: Kind) async throws {
        for (name, scenario) in ProgressTests.scenarios.sorted(by: { $0.key < $1.key }) {
            let theirs = try await end(OperationQueue()) { scenario($0, .block) }
            let ours = try await end(BackgroundQueue()) { scenario($0, kind) }
            #expect(ours == theirs, "\(name)")
        }
    }

    @Test func operationsThatRanCountHoweverTheyEnded() {
        let queue = BackgroundQueue()
        queue.progress.totalUnitCount = 3
        let begun = Signal()
        let cancelled = AsyncOperation(timeout: 0) { _ in begun.fire() }
        let timedOut = AsyncOperation { $0.timeOut(after: 0) }
        timedOut.addObserver(FinishedObserver { _, _ in })
        queue.addOperations([cancelled, timedOut])
        #expect(begun.wait())
        #expect(queue.progress.completedUnitCount <= 1)
        cancelled.cancel()
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.progress.completedUnitCount == 2)
    }

    @Test func childrenOfOnesOwnAreChildren() {
        let queue = BackgroundQueue()
        queue.progress.totalUnitCount = 2
        let child = Progress.discreteProgress(totalUnitCount: 1)
        queue.progress.addChild(child, withPendingUnitCount: 1)
        queue.addOperations([PlainOperation()], waitUntilFinished: true)
        #expect(queue.progress.completedUnitCount == 1)
        child.completedUnitCount = 1
        #expect(queue.progress.isFinished)
    }

    /// Kinds of operations whose code runs on a thread of the queue.
    private func operation(_ kind: Kind, _ body: @escaping @Sendable () -> Void) -> Operation {
        switch kind {
        case .plain: PlainOperation(body)
        case .own, .late:
            AsyncOperation(timeout: 0) { own in
                body()
                own.finish()
            }
        case .continuation:
            ContinuationOperation(timeout: 0) { continuation in
                body()
                continuation()
            }
        case .task: AsyncOperation(timeout: 0) { body() }
        default: BlockOperation(block: body)
        }
    }

    @Test(arguments: [Kind.block, .plain, .own, .continuation, .task])
    func `progress that an operation makes is a part of its unit`(kind: Kind) {
        for queue in [OperationQueue(), BackgroundQueue()] {
            queue.progress.totalUnitCount = 4
            let fractions = Box<[Double]>([])
            let operation = operation(queue is BackgroundQueue ? kind : .block) {
                let own = Progress(totalUnitCount: 10)
                for step in [0, 1, 5, 10] as [Int64] {
                    own.completedUnitCount = step
                    fractions.change { $0.append(queue.progress.fractionCompleted) }
                }
                #expect(queue.progress.completedUnitCount == 1)
            }
            queue.addOperations([operation], waitUntilFinished: true)
            #expect(fractions.now == [0, 0.025, 0.125, 0.25])
            queue.addOperations([PlainOperation()], waitUntilFinished: true)
            #expect(queue.progress.completedUnitCount == 2 && queue.progress.fractionCompleted == 0.5)
        }
    }

    @Test func `progress of an operation that goes on counts until it has ended`() async throws {
        let queue = BackgroundQueue()
        queue.progress.totalUnitCount = 2
        let made = Box<Progress?>(nil)
        let begun = Signal()
        let operation = AsyncOperation(timeout: 0) { _ in
            let own = Progress(totalUnitCount: 4)
            made.change { $0 = own }
            begun.fire()
        }
        let silent = AsyncOperation(timeout: 0) { _ in begun.fire() }
        queue.addOperations([operation, silent])
        await PendingWait.until(begun)
        await PendingWait.until(begun)
        let own = try #require(made.now)
        own.completedUnitCount = 1
        #expect(queue.progress.fractionCompleted == 0.125 && queue.progress.completedUnitCount == 0)
        operation.finish()
        silent.finish()
        try await queue.drained()
        #expect(queue.progress.completedUnitCount == 2 && queue.progress.isFinished)
        own.completedUnitCount = 4
        #expect(queue.progress.completedUnitCount == 2)
    }

    @Test(arguments: [Kind.block, .plain, .own, .continuation, .task, .closure])
    func `a child that an operation adds to the progress is a child`(kind: Kind) {
        let queue = BackgroundQueue()
        queue.progress.totalUnitCount = 3
        let child = Progress.discreteProgress(totalUnitCount: 1)
        let add: @Sendable () -> Void = { queue.progress.addChild(child, withPendingUnitCount: 1) }
        if kind == .closure { queue.addBarrierBlock(add) } else { queue.addOperation(operation(kind, add)) }
        queue.addOperation(PlainOperation())
        queue.waitUntilAllOperationsAreFinished()
        let operations: Int64 = kind == .closure ? 1 : 2
        #expect(queue.progress.completedUnitCount == operations)
        child.completedUnitCount = 1
        #expect(queue.progress.completedUnitCount == operations + 1)
    }

    /// An operation that does not leave `start()` to Foundation. Unchecked for the reason of its superclass.
    private final class OwnStart: Operation, @unchecked Sendable {
        private let isOver = Box(false)

        override var isFinished: Bool { isOver.now }

        override func start() {
            isOver.change { $0 = true }
            #if canImport(ObjectiveC)
                willChangeValue(forKey: "isFinished")
            #endif
            didChangeValue(forKey: "isFinished")
        }
    }

    @Test func `an operation with a start of its own is not counted, as in Foundation's queue`() {
        for queue in [OperationQueue(), BackgroundQueue()] {
            queue.progress.totalUnitCount = 2
            queue.addOperations([OwnStart(), PlainOperation()], waitUntilFinished: true)
            queue.waitUntilAllOperationsAreFinished()
            #expect(queue.progress.completedUnitCount == 1)
        }
    }

    @Test func `many that make progress at once are counted, and may be looked at meanwhile`() async throws {
        let queue = BackgroundQueue()
        let kinds: [Kind] = [.block, .plain, .own, .continuation, .task]
        queue.progress.totalUnitCount = 2_000
        let isOver = Box(false)
        let looked = Signal()
        Thread {
            while !isOver.now {
                // Foundation reads a fraction without a lock, so it may be that of an intermediate step.
                let progress = queue.progress
                if progress.fractionCompleted < 0 || progress.completedUnitCount > 2_000 { Issue.record("\(progress)") }
            }
            looked.fire()
        }.start()
        for number in 0..<2_000 {
            queue.addOperation(
                operation(kinds[number % kinds.count]) {
                    let own = Progress(totalUnitCount: 3)
                    for step in 1...(number.isMultiple(of: 2) ? 3 : 2) { own.completedUnitCount = Int64(step) }
                }
            )
        }
        try await queue.drained()
        isOver.change { $0 = true }
        await PendingWait.until(looked)
        #expect(queue.progress.completedUnitCount == 2_000 && queue.progress.isFinished)
    }

    @Test func manyAtOnceAreCounted() async throws {
        let queue = BackgroundQueue()
        let kinds: [Kind] = [.block, .plain, .closure, .own, .late, .group]
        queue.progress.totalUnitCount = 6_000
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for number in 0..<1_500 { kinds[number % kinds.count].add(to: queue) }
        }
        try await queue.drained()
        #expect(queue.progress.completedUnitCount == 6_000 && queue.progress.isFinished)
    }
}
