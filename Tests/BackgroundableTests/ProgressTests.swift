import Foundation
import Testing

@testable import Backgroundable

/// The progress of a background queue is that of Foundation's queue, whatever the operations are.
@Suite struct ProgressTests {
    /// Kinds of operations, each with something that runs.
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

    /// What is done with a queue, and how operations are made and added.
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

    /// What a progress says at the end.
    private func end(
        _ queue: OperationQueue,
        _ run: @escaping @Sendable (OperationQueue) -> Void
    ) async throws -> String {
        queue.maxConcurrentOperationCount = 1
        let parent = Progress(totalUnitCount: 7)
        parent.addChild(queue.progress, withPendingUnitCount: 7)
        // Other tests may block every thread of the pool that tasks run on: this one must not.
        await withCheckedContinuation { continuation in
            Thread {
                run(queue)
                continuation.resume()
            }.start()
        }
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
