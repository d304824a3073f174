import Foundation
import Synchronization
import Testing

@testable import Backgroundable

/// Changes of an operation while another thread adds it to a queue, or the queue is about to start it.
@Suite(.serialized) struct DependencyRaceTests {
    /// The kinds of conditions: evaluated, exclusive, both, none.
    enum Conditions: CaseIterable {
        case none, judged, exclusive, both

        func add(to operation: AsyncOperation, category: String) {
            if self == .judged || self == .both { operation.addCondition(BlockCondition { true }) }
            if self == .exclusive || self == .both { operation.addCondition(MutuallyExclusive(category: category)) }
        }
    }

    /// An operation that never finishes by itself.
    private func never() -> AsyncOperation {
        AsyncOperation(timeout: 0) { _ in }
    }

    /// Runs all of `steps` at nearly the same moment, each on a thread of its own, in another order each round.
    private func together(_ round: Int, _ steps: [@Sendable () -> Void]) {
        let waiting = Atomic<Int>(steps.count)
        DispatchQueue.concurrentPerform(iterations: steps.count) { index in
            waiting.subtract(1, ordering: .acquiringAndReleasing)
            let patience = MonotonicTime.now + 100_000
            // Other tests may occupy every other thread; the steps then run one after the other.
            while waiting.load(ordering: .acquiring) > 0, MonotonicTime.now < patience {}
            for _ in 0..<(round * (index * 16 + 7) % 61) { _ = MonotonicTime.now }
            steps[index]()
        }
    }

    /// Runs `change` and the addition to a queue at the same moment, many times, and expects every operation to run.
    private func expectAllToRun(
        _ conditions: Conditions,
        dependencies count: Int,
        rounds: Int = 200,
        changes: (AsyncOperation, [AsyncOperation], OperationQueue) -> [@Sendable () -> Void]
    ) {
        for queue in [OperationQueue(), BackgroundQueue()] {
            let operations = (0..<rounds).map { round in
                let operation = AsyncOperation { $0.finish() }
                let dependencies = (0..<count).map { _ in never() }
                for dependency in dependencies { operation.addDependency(dependency) }
                conditions.add(to: operation, category: "race \(conditions) \(round)")
                together(round, [{ queue.addOperation(operation) }] + changes(operation, dependencies, queue))
                return operation
            }
            #expect(eventually { operations.allSatisfy(\.isFinished) })
            #expect(operations.allSatisfy { $0.ending == .finished })
        }
    }

    @Test(arguments: Conditions.allCases)
    func removingTheLastDependencyDuringTheAddition(conditions: Conditions) {
        expectAllToRun(conditions, dependencies: 1) { operation, dependencies, _ in
            [{ operation.removeDependency(dependencies[0]) }]
        }
    }

    @Test(arguments: Conditions.allCases)
    func removingSeveralDependenciesDuringTheAddition(conditions: Conditions) {
        expectAllToRun(conditions, dependencies: 2) { operation, dependencies, _ in
            dependencies.map { dependency in { operation.removeDependency(dependency) } }
        }
    }

    /// The conditions may be evaluated by the thread that ends the dependency, before the queue has the operation. Only
    /// the thread sanitizer sees whether that thread may read what the other one writes.
    @Test(arguments: Conditions.allCases)
    func finishingTheLastDependencyDuringTheAddition(conditions: Conditions) {
        expectAllToRun(conditions, dependencies: 1) { _, dependencies, _ in
            dependencies[0].start()
            return [{ dependencies[0].finish() }]
        }
    }

    @Test(arguments: Conditions.allCases)
    func replacingADependencyDuringTheAddition(conditions: Conditions) {
        expectAllToRun(conditions, dependencies: 1) { operation, dependencies, _ in
            let brief = AsyncOperation { $0.finish() }
            return [
                { operation.removeDependency(dependencies[0]) },
                {
                    operation.addDependency(brief)
                    brief.start()
                },
            ]
        }
    }

    @Test(arguments: Conditions.allCases)
    func changingPriorityAndSuspensionDuringTheAddition(conditions: Conditions) {
        expectAllToRun(conditions, dependencies: 1) { operation, dependencies, queue in
            [
                { operation.removeDependency(dependencies[0]) },
                {
                    operation.queuePriority = .high
                    queue.isSuspended = true
                    operation.queuePriority = .veryLow
                    queue.isSuspended = false
                },
            ]
        }
    }

    @Test(arguments: Conditions.allCases)
    func aDependencyAddedAfterARemovalIsAwaited(conditions: Conditions) {
        for queue in [OperationQueue(), BackgroundQueue()] {
            let operation = AsyncOperation { $0.finish() }
            let (first, other, later) = (never(), never(), never())
            for dependency in [first, other] { operation.addDependency(dependency) }
            conditions.add(to: operation, category: "later \(conditions)")
            queue.addOperation(operation)
            operation.removeDependency(first)
            operation.addDependency(later)
            for dependency in [other, later] {
                #expect(!operation.isReady)
                dependency.start()
                dependency.finish()
            }
            #expect(eventually { operation.isFinished })
        }
    }

    @Test(arguments: Conditions.allCases)
    func whatAReadyOperationIsGivenInItsQueueIsWaitedFor(conditions: Conditions) {
        for queue in [OperationQueue(), BackgroundQueue()] {
            queue.isSuspended = true
            let operation = AsyncOperation { $0.finish() }
            queue.addOperation(operation)
            let asked = Box(0)
            let isTaken = operation.addCondition(
                BlockCondition {
                    asked.change { $0 += 1 }
                    return true
                }
            )
            conditions.add(to: operation, category: "given \(conditions)")
            let dependency = never()
            operation.addDependency(dependency)
            operation.removeDependency(dependency)
            queue.isSuspended = false
            #expect(eventually { operation.isFinished })
            #expect(isTaken && asked.now == 1)
        }
    }

    @Test(arguments: [false, true]) func everyConditionThatIsTakenIsEvaluated(hasAttachments: Bool) {
        for round in 0..<1_000 {
            let queue = round.isMultiple(of: 2) ? OperationQueue() : BackgroundQueue()
            let operation = AsyncOperation { $0.finish() }
            if hasAttachments { operation.addObserver(FinishedObserver { _, _ in }) }
            let asked = Box(0)
            let taken = Box(0)
            together(
                round,
                [
                    { queue.addOperation(operation) },
                    {
                        let condition = BlockCondition {
                            asked.change { $0 += 1 }
                            return true
                        }
                        if operation.addCondition(condition) { taken.change { $0 += 1 } }
                    },
                ]
            )
            operation.waitUntilFinished()
            #expect(asked.now == taken.now)
        }
    }
}
