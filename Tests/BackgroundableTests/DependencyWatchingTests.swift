import Foundation
import Testing

@testable import Backgroundable

/// Removed dependencies leave nothing behind.
@Suite struct DependencyWatchingTests {
    /// The number of dependencies that are watched because Foundation does not notice when they finish.
    private func watched(by operation: AsyncOperation) -> Int {
        operation.slot.made?.state.withLock { $0.watchers.count } ?? 0
    }

    @Test(arguments: [false, true]) func aRemovedDependencyIsReleased(isCancelled: Bool) async throws {
        let operation = AsyncOperation { $0.finish() }
        weak var first: Operation?
        weak var second: Operation?
        do {
            let (one, other) = (BlockOperation {}, BlockOperation {})
            (first, second) = (one, other)
            operation.addDependency(one)
            operation.addDependency(other)
            operation.removeDependency(one)
            if isCancelled {
                operation.cancel()
                OperationQueue().addOperation(operation)
                try await operation.finished()
            } else {
                operation.removeDependency(other)
            }
        }
        #expect(await eventually { first == nil && second == nil })
        withExtendedLifetime(operation) {}
    }

    @Test func aDependencyIsLetGoWithTheOperation() async {
        weak var dependency: Operation?
        do {
            let (one, other) = (BlockOperation {}, BlockOperation {})
            let operation = AsyncOperation { $0.finish() }
            dependency = other
            operation.addDependency(one)
            operation.addDependency(other)
            operation.removeDependency(one)
        }
        #expect(await eventually { dependency == nil })
    }

    @Test func eachDependencyIsWatchedOnce() {
        let operation = AsyncOperation { $0.finish() }
        let dependencies = (0..<50).map { _ in BlockOperation {} }
        for dependency in dependencies { operation.addDependency(dependency) }
        for (number, dependency) in dependencies.enumerated() {
            operation.removeDependency(dependency)
            #expect(watched(by: operation) == (isWatching ? dependencies.count - 1 - number : 0))
        }
        for dependency in dependencies {
            operation.addDependency(dependency)
            operation.addDependency(dependency)
        }
        #expect(watched(by: operation) == (isWatching ? dependencies.count : 0))
        let queue = BackgroundQueue()
        queue.addOperations(dependencies + [operation], waitUntilFinished: true)
        #expect(operation.ending == .finished)
        #expect(eventually { self.watched(by: operation) == 0 })
    }

    /// Elsewhere Foundation notices by itself.
    private var isWatching: Bool {
        #if canImport(ObjectiveC)
            false
        #else
            true
        #endif
    }
}
