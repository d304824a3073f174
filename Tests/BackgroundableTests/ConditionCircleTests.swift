import Foundation
import Testing

@testable import Backgroundable

/// Operations that conditions name to run first and that run already, wait elsewhere, or wait for the operation itself.
@Suite struct ConditionCircleTests {
    /// Names the condition's own operation.
    private struct Narcissus: OperationCondition {
        func dependency(for operation: AsyncOperation) -> Operation? { operation }

        func evaluate(
            for operation: AsyncOperation,
            completion: @escaping @Sendable (OperationConditionResult) -> Void
        ) { completion(.satisfied) }
    }

    private let circle = [
        "the condition PreparedCondition never decides: "
            + "the operation that it names to run first waits for this one"
    ]

    private func operation(after helper: Operation) -> AsyncOperation {
        let operation = AsyncOperation(timeout: 0) { $0.finish() }
        operation.addCondition(PreparedCondition(helper: helper))
        return operation
    }

    @Test func `one that waits in another queue is waited for`() async throws {
        let other = BackgroundQueue()
        other.isSuspended = true
        let helpers: [Operation] = [
            AsyncOperation(timeout: 0) { $0.finish() }, PlainOperation(), BlockOperation {},
        ]
        other.addOperations(helpers)
        other.addOperation {}
        let block = try #require(other.operations.last)
        let queue = BackgroundQueue()
        let operations = (helpers + [block]).map { operation(after: $0) }
        queue.addOperations(operations)
        for helper in helpers { #expect(await eventually { ConditionDependencies.shared.count(of: helper) == 1 }) }
        #expect(operations.allSatisfy { $0.ending == nil })
        other.isSuspended = false
        for operation in operations { try await operation.succeeded() }
    }

    @Test func `one that waits in a plain queue is waited for if it is asynchronous`() async throws {
        let other = OperationQueue()
        other.isSuspended = true
        let (first, helper) = (AsyncOperation(timeout: 0) { $0.finish() }, AsyncOperation(timeout: 0) { $0.finish() })
        let second = AsyncOperation(timeout: 0) { $0.finish() }
        second.addDependency(first)
        for operation in [helper, first, second] { other.addOperation(operation) }
        let operations = [operation(after: helper), operation(after: second)]
        BackgroundQueue().addOperations(operations)
        for helper in [helper, second] {
            #expect(await eventually { ConditionDependencies.shared.count(of: helper) == 1 })
        }
        other.isSuspended = false
        for operation in operations { try await operation.succeeded() }
    }

    @Test func `one whose dependencies have finished is run, and so is an attempt`() async throws {
        let helper = AsyncOperation(timeout: 0) { $0.finish() }
        let attempt = AsyncOperation(timeout: 0) { $0.finish() }
        for dependent in [helper, attempt] {
            let first = AsyncOperation(timeout: 0) { $0.finish() }
            dependent.addDependency(first)
            BackgroundQueue().addOperation(first)
            try await first.succeeded()
            #expect(dependent.isReady)
        }
        let operation = operation(after: helper)
        let retries = RetryOperation { _ in attempt }
        BackgroundQueue().addOperations([operation, retries])
        try await operation.succeeded()
        try await retries.succeeded()
    }

    @Test func `one that is a part of a waiting group is waited for`() async throws {
        let part = AsyncOperation(timeout: 0) { $0.finish() }
        let group = GroupOperation(operations: [part])
        let operation = operation(after: part)
        BackgroundQueue().addOperation(operation)
        #expect(await eventually { ConditionDependencies.shared.count(of: part) == 1 })
        BackgroundQueue().addOperation(group)
        try await operation.succeeded()
        try await group.succeeded()
    }

    @Test func `one of another queue is not cancelled with the operation`() async throws {
        let other = BackgroundQueue()
        other.isSuspended = true
        let helper = AsyncOperation(timeout: 0) { $0.finish() }
        other.addOperation(helper)
        let operation = operation(after: helper)
        BackgroundQueue().addOperation(operation)
        #expect(await eventually { ConditionDependencies.shared.count(of: helper) == 1 })
        operation.cancel()
        try await operation.finished()
        other.isSuspended = false
        try await helper.succeeded()
    }

    @Test func `an operation that is to run before itself fails`() async throws {
        for queue in [BackgroundQueue(), OperationQueue()] {
            let operation = AsyncOperation(timeout: 0) { Issue.record("the closure ran") }
            operation.addCondition(Narcissus())
            queue.addOperation(operation)
            try await operation.finished()
            #expect(operation.errors.map { "\($0)" } == [circle[0].replacing("PreparedCondition", with: "Narcissus")])
        }
    }

    @Test func `of two that are to run before each other one fails`() async throws {
        let queue = BackgroundQueue()
        for together in [false, true] {
            for _ in 0..<100 {
                let one = AsyncOperation(timeout: 0) { $0.finish() }
                let other = operation(after: one)
                one.addCondition(PreparedCondition(helper: other))
                queue.addOperations(together ? [one, other] : [one])
                try await one.finished()
                try await other.finished()
                let errors = (one.errors + other.errors).map { "\($0)" }
                #expect(!errors.isEmpty && Set(errors) == Set(circle))
            }
        }
    }

    @Test func `one that depends on the operation fails it, and so does a group around it`() async throws {
        let helper = AsyncOperation(timeout: 0) { $0.finish() }
        let first = operation(after: helper)
        helper.addDependency(first)
        BackgroundQueue().addOperation(first)
        try await first.finished()
        #expect(first.errors.map { "\($0)" } == circle)

        let part = AsyncOperation(timeout: 0) { $0.finish() }
        let group = GroupOperation(operations: [part])
        part.addCondition(PreparedCondition(helper: group))
        BackgroundQueue().addOperation(group)
        try await group.finished()
        #expect(group.errors.map { "\($0)" } == circle)
    }

    @Test func `another alternative may decide in place of a circle`() async throws {
        let helper = AsyncOperation(timeout: 0) { $0.finish() }
        let operation = AsyncOperation(timeout: 0) { $0.finish() }
        helper.addDependency(operation)
        operation.addCondition(PreparedCondition(helper: helper).or(BlockCondition { true }))
        BackgroundQueue().addOperation(operation)
        try await operation.succeeded()
    }

    @Test func `an attempt that was used before fails, and is distinguished`() async throws {
        let same = AsyncOperation(timeout: 0) { $0.finish(with: Mishap("broken")) }
        let retries = RetryOperation(attempts: 3, delay: .constant(0)) { _ in same }
        BackgroundQueue().addOperation(retries)
        try await retries.finished()
        #expect(retries.errors.map { "\($0)" }.last?.hasPrefix("attempt 2 is an operation that is in a queue") == true)
        #expect(retries.attemptsMade == 2)
    }
}
