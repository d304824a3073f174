public import Foundation

/// A condition that always holds and only adds an exclusive category to its operation.
protocol PurelyExclusive: OperationCondition {}

/// A condition that lets only one operation of a category run at a time, in all queues of the process.
///
/// The category is first come, first served, counted from the moment when an operation's dependencies have finished and
/// its other conditions hold. An operation may have several categories. It waits for all of them at once, so operations
/// with overlapping categories cannot deadlock. The parts of a group that has the category run one at a time within
/// that group, and do not wait for the group's category.
///
/// Parts of a group overtake operations outside the group that have not begun, because those may wait for the group's
/// place in a queue. A group that has a category also has the categories of its parts while it runs. These are
/// determined when the group's turn comes: if parts with a category are added later, as by a ``RetryOperation``, add
/// the category to the group itself. Otherwise two groups could deadlock; the part that would cause that is cancelled
/// with ``OperationError/exclusiveDeadlock(categories:)``.
///
/// The category is released when the operation has ended and its closure has returned, which may be later if the
/// operation was cancelled or timed out. If the closure has not returned 10 s after the operation's end, the category
/// is released nevertheless.
///
/// ```swift
/// operation.addCondition(MutuallyExclusive<Database>())
/// operation.addCondition(MutuallyExclusive(category: "reports"))
/// ```
public struct MutuallyExclusive<Category>: OperationCondition, PurelyExclusive {
    private let category: String

    /// Creates the condition for the category of the type.
    public init() {
        category = "type \(String(reflecting: Category.self))"
    }

    /// "MutuallyExclusive" and the category.
    public var name: String { "MutuallyExclusive<\(category)>" }

    /// The exclusive category.
    public var exclusiveCategory: String? { category }

    /// Always calls the completion with `satisfied`. The category makes the operation wait.
    public func evaluate(
        for operation: AsyncOperation,
        completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        completion(.satisfied)
    }
}

extension MutuallyExclusive where Category == Void {
    /// Creates the condition for the category with a name.
    public init(category: String) {
        self.category = "name \(category)"
    }
}

/// A condition that holds if a block returns true.
///
/// ```swift
/// operation.addCondition(BlockCondition { FileManager.default.fileExists(atPath: path) })
/// ```
public struct BlockCondition: OperationCondition {
    private let decide: @Sendable (AsyncOperation, @escaping @Sendable (OperationConditionResult) -> Void) -> Void
    /// The name of the condition in errors.
    public let name: String

    /// Creates a condition from a block, which runs on a thread of the system's global queue.
    ///
    /// - Parameters:
    ///   - name: The name of the condition in errors.
    ///   - block: Returns whether the condition holds. If it throws, the condition fails with that error; if it returns
    ///     false, with ``OperationError/conditionFailed(_:)``.
    public init(name: String = "BlockCondition", _ block: @escaping @Sendable () throws -> Bool) {
        self.name = name
        decide = { _, completion in completion(Result { try block() }.conditionResult(name)) }
    }

    /// Creates a condition from asynchronous code, which runs in a task. The task is cancelled if the operation ends or
    /// another condition decides first.
    ///
    /// - Parameters:
    ///   - name: The name of the condition in errors.
    ///   - block: Returns whether the condition holds. If it throws, the condition fails with that error; if it returns
    ///     false, with ``OperationError/conditionFailed(_:)``.
    public init(name: String = "BlockCondition", _ block: @escaping @Sendable () async throws -> Bool) {
        self.name = name
        decide = { operation, completion in
            let task = Task {
                do {
                    completion(Result.success(try await block()).conditionResult(name))
                } catch {
                    completion(.failed(error))
                }
            }
            ConditionContext.of(operation).onCallOff(of: operation) { task.cancel() }
        }
    }

    /// Runs the block and reports its result.
    public func evaluate(
        for operation: AsyncOperation,
        completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        decide(operation, completion)
    }
}

extension Result<Bool, any Error> {
    fileprivate func conditionResult(_ name: String) -> OperationConditionResult {
        switch self {
        case .success(true): .satisfied
        case .success(false): .failed(OperationError.conditionFailed(name))
        case .failure(let error): .failed(error)
        }
    }
}

/// A condition that holds if all dependencies of the operation succeeded: none failed, timed out or was cancelled.
///
/// Otherwise the operation is cancelled with ``OperationError/dependenciesFailed(names:errors:)``, which has the
/// original errors: in a chain of operations with this condition, each gets the errors of the one that failed first.
public struct NoFailedDependenciesCondition: OperationCondition {
    private let ignoresCancellations: Bool

    /// Creates the condition.
    ///
    /// - Parameter ignoreCancellations: Whether the operation is cancelled without an error if no dependency failed and
    ///   some were cancelled without an error.
    public init(ignoreCancellations: Bool = false) {
        ignoresCancellations = ignoreCancellations
    }

    /// Checks the dependencies, all of which have finished.
    public func evaluate(
        for operation: AsyncOperation,
        completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        let failed = operation.dependencies.filter(isFailed)
        guard !failed.isEmpty else { return completion(.satisfied) }
        let errors = failed.flatMap { ($0 as? AsyncOperation)?.errors ?? [] }.flatMap(\.roots)
        guard !errors.isEmpty || !ignoresCancellations else { return completion(.ignored) }
        completion(.failed(OperationError.dependenciesFailed(names: failed.map(\.label), errors: errors)))
    }

    private func isFailed(_ operation: Operation) -> Bool {
        (operation as? AsyncOperation)?.failed == true || operation.isCancelled
    }
}

extension OperationError {
    /// Returns the error of an operation whose dependency did not succeed.
    static func dependencyFailed(_ operation: Operation, _ error: any Error) -> OperationError {
        .dependenciesFailed(names: [operation.label], errors: error is CancellationError ? [] : error.roots)
    }
}

extension Operation {
    /// The name of the operation in errors.
    fileprivate var label: String { name ?? "\(type(of: self))" }
}

extension Error {
    /// The errors that this error passes on, or the error itself.
    fileprivate var roots: [any Error] {
        guard case .dependenciesFailed(_, let errors)? = self as? OperationError, !errors.isEmpty else { return [self] }
        return errors
    }
}

/// A condition that holds if another condition does not hold.
///
/// If the other condition does not decide in time, this condition fails with
/// ``OperationError/conditionTimedOut(_:after:)``.
///
/// This condition has the dependency of the other one, but not its exclusive categories.
public struct NegatedCondition<Condition: OperationCondition>: OperationCondition {
    private let condition: Condition

    /// Creates the negation of `condition`.
    public init(_ condition: Condition) {
        self.condition = condition
    }

    /// "not" and the name of the other condition.
    public var name: String { "not \(condition.name)" }

    /// Returns the dependency of the other condition.
    public func dependency(for operation: AsyncOperation) -> Operation? {
        condition.dependency(for: operation)
    }

    /// Evaluates the other condition. Fails with ``OperationError/conditionFailed(_:)`` if that holds.
    public func evaluate(
        for operation: AsyncOperation,
        completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        condition.evaluate(for: operation) { result in
            switch result {
            case .satisfied: completion(.failed(OperationError.conditionFailed(name)))
            case .failed where result.isUndecided: completion(result)
            case .failed, .ignored: completion(.satisfied)
            }
        }
    }
}

/// A condition that evaluates another one without its dependency and those of the conditions nested in it.
///
/// Use it, for example, to check whether a user is signed in if the condition alone would sign in first.
public struct SilentCondition<Condition: OperationCondition>: OperationCondition {
    private let condition: Condition

    /// Creates a silent form of `condition`.
    public init(_ condition: Condition) {
        self.condition = condition
    }

    /// The name of the other condition.
    public var name: String { condition.name }

    /// The exclusive category of the other condition.
    public var exclusiveCategory: String? { condition.exclusiveCategory }

    /// The exclusive categories of the other condition.
    public var exclusiveCategories: Set<String> { condition.exclusiveCategories }

    /// Evaluates the other condition without running dependencies.
    public func evaluate(
        for operation: AsyncOperation,
        completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        var context = ConditionContext.of(operation)
        context.isSilent = true
        ConditionContext.$current.withValue(context) {
            condition.evaluate(for: operation, completion: completion)
        }
    }
}
