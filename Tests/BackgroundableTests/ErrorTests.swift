import Foundation
import Testing

@testable import Backgroundable

@Suite struct ErrorTests {
    @Test func anOperationKeepsTheErrorsOfTheEndingThatCounted() {
        let operation = AsyncOperation { own in
            own.finish(withErrors: [Mishap("one"), Mishap("two")])
            own.finish(with: Mishap("late"))
            own.cancel(with: Mishap("late"))
        }
        OperationQueue().addOperations([operation], waitUntilFinished: true)
        #expect(operation.errors.map { "\($0)" } == ["one", "two"])
        #expect(operation.failed && operation.ending == .finished)
    }

    @Test func noErrorIsSuccess() {
        let operations = [
            AsyncOperation { $0.finish(with: nil) },
            AsyncOperation { $0.finish(withErrors: []) },
        ]
        OperationQueue().addOperations(operations, waitUntilFinished: true)
        #expect(operations.allSatisfy { !$0.failed && $0.errors.isEmpty && $0.ending == .finished })
    }

    @Test func aTimeoutIsAnError() {
        let operation = AsyncOperation(timeout: 0.01) { _ in }
        OperationQueue().addOperations([operation], waitUntilFinished: true)
        #expect(operation.failed)
        #expect(operation.errors.map { "\($0)" } == ["timed out after 0.01 s"])
    }

    @Test func descriptionsNameTheError() {
        let operation = AsyncOperation(name: "fetch") { $0.finish(with: Mishap("no route")) }
        OperationQueue().addOperations([operation], waitUntilFinished: true)
        #expect(operation.description == "AsyncOperation \"fetch\" (finished: no route, timeout 10 s)")
    }

    @Test func errorsPassAlongDependencies() {
        let first = AsyncOperation { $0.finish(with: Mishap("disk full")) }
        let seen = Box<[String]>([])
        let second = AsyncOperation { own in
            seen.change { $0 = own.dependencyErrors.map { "\($0)" } }
            own.finish()
        }
        second.addDependency(BlockOperation {})
        second.addDependency(first)
        OperationQueue().addOperations([first, second] + second.dependencies.prefix(1), waitUntilFinished: true)
        #expect(seen.now == ["disk full"])
    }

    @Test func everyErrorReadsWell() {
        let errors: [OperationError] = [
            .timedOut(after: 10), .conditionFailed("signed in"), .conditionTimedOut("signed in", after: 0.5),
            .circularCondition("signed in"), .usedAttempt(2),
            .exclusiveDeadlock(categories: ["name a", "name b"]),
            .dependenciesFailed(names: ["a", "b"], errors: [Mishap("x")]), .groupFinished,
        ]
        #expect(
            errors.map(\.localizedDescription) == [
                "timed out after 10 s", "the condition signed in does not hold",
                "the condition signed in did not decide within 0.5 s",
                "the condition signed in never decides: the operation that it names to run first waits for this one",
                "attempt 2 is an operation that is in a queue or was started before: make a new one for each attempt",
                "waiting for its exclusive categories (name a, name b) would be a deadlock: another group that has one of them "
                    + "waits for this one's group; add them to the group's own conditions",
                "a dependency did not succeed: a, b (x)", "its group had ended before it could start",
            ]
        )
    }
}
