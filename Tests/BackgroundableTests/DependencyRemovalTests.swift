import Foundation
import Testing

@testable import Backgroundable

/// The removal of dependencies from operations that are in a queue, or not yet.
@Suite struct DependencyRemovalTests {
    private let queues = [OperationQueue(), BackgroundQueue()]

    /// An operation that never finishes by itself.
    private func never() -> AsyncOperation {
        AsyncOperation(timeout: 0) { _ in }
    }

    private func conditions(_ isConditional: Bool, _ operation: AsyncOperation) {
        guard isConditional else { return }
        operation.addCondition(BlockCondition { true })
        operation.addCondition(MutuallyExclusive(category: "removal"))
    }

    @Test(arguments: [false, true], [false, true]) func anOperationRunsWhenNothingKeepsItAnyMore(
        isConditional: Bool,
        conditionsComeLate: Bool
    ) {
        for queue in queues {
            let operation = AsyncOperation { $0.finish() }
            let dependencies = (0..<4).map { _ in never() }
            for dependency in dependencies { operation.addDependency(dependency) }
            if !conditionsComeLate { conditions(isConditional, operation) }
            queue.addOperation(operation)
            if conditionsComeLate { conditions(isConditional, operation) }
            operation.removeDependency(dependencies[1])
            operation.removeDependency(dependencies[2])
            operation.removeDependency(dependencies[2])
            #expect(!operation.isReady)
            for finished in [0, 3] {
                #expect(!operation.isFinished)
                dependencies[finished].start()
                dependencies[finished].finish()
            }
            operation.waitUntilFinished()
            #expect(operation.ending == .finished)
        }
    }

    @Test(arguments: [false, true]) func removingTheLastDependencyReleasesIt(isConditional: Bool) {
        for queue in queues {
            let operation = AsyncOperation { $0.finish() }
            let dependency = never()
            operation.addDependency(dependency)
            conditions(isConditional, operation)
            queue.addOperation(operation)
            operation.removeDependency(dependency)
            operation.waitUntilFinished()
            #expect(operation.ending == .finished && operation.dependencies.isEmpty)
        }
    }

    @Test func removingOneBeforeItIsQueuedStartsNoEvaluation() {
        let asked = Box(0)
        let operation = AsyncOperation { $0.finish() }
        let dependency = never()
        operation.addDependency(dependency)
        operation.addCondition(
            BlockCondition {
                asked.change { $0 += 1 }
                return true
            }
        )
        operation.removeDependency(dependency)
        #expect(operation.addCondition(BlockCondition { true }) && asked.now == 0)
        OperationQueue().addOperations([operation], waitUntilFinished: true)
        #expect(asked.now == 1 && operation.ending == .finished)
    }

    @Test func aCancelledOperationLeavesAllTheSame() {
        for queue in queues {
            let operation = AsyncOperation { $0.finish() }
            let dependencies = [never(), never()]
            for dependency in dependencies { operation.addDependency(dependency) }
            queue.isSuspended = true
            queue.addOperation(operation)
            operation.cancel()
            dependencies[0].start()
            dependencies[0].finish()
            for dependency in dependencies { operation.removeDependency(dependency) }
            queue.isSuspended = false
            operation.waitUntilFinished()
            #expect(operation.isCancelled)
        }
    }

    @Test func oneThatIsAddedAgainIsWaitedFor() {
        let operation = AsyncOperation { $0.finish() }
        let dependency = never()
        let other = never()
        let queue = BackgroundQueue()
        for one in [dependency, other] { operation.addDependency(one) }
        queue.addOperation(operation)
        operation.removeDependency(dependency)
        operation.addDependency(dependency)
        operation.removeDependency(other)
        #expect(!operation.isReady)
        dependency.start()
        dependency.finish()
        operation.waitUntilFinished()
        #expect(operation.ending == .finished)
    }

    @Test func removalDuringTheirFinishLosesNoOperation() {
        for queue in queues {
            let operations = (0..<1_000).map { _ in AsyncOperation { $0.finish() } }
            for operation in operations {
                let dependencies = (0..<3).map { _ in never() }
                for dependency in dependencies {
                    operation.addDependency(dependency)
                    dependency.start()
                }
                queue.addOperation(operation)
                inTheGlobalQueue { dependencies[0].finish() }
                operation.removeDependency(dependencies[1])
                inTheGlobalQueue { dependencies[2].finish() }
            }
            for operation in operations { operation.waitUntilFinished() }
        }
    }
}
