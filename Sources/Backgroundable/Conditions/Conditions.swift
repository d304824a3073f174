public import Foundation

/// A condition that always holds and only gives its operation a category to itself.
protocol PurelyExclusive: OperationCondition {}

/// Only one operation of a category runs at a time, in the whole process, whatever queues they are in.
///
/// Within a category it is first come, first served, counted from when an operation's dependencies have finished and its
/// other conditions hold. An operation may have several categories: it waits for all of them at once, so operations
/// with overlapping categories never wait for each other in a circle. Parts of a group that has the category
/// run one at a time within that group, and do not wait for it.
///
/// Parts of a group go before operations outside of it that have not begun, because those may wait for the group's place
/// in a queue. A group that has a category has those of its parts too, for as long as it runs. That is settled when the
/// group's turn comes: give it the categories of parts that it will add later (as a ``RetryOperation`` does). Else two groups
/// might wait for each other: the part that would bring this about is cancelled with
/// ``OperationError/exclusiveDeadlock(categories:)``.
///
/// The category is given up when the operation has ended and its closure has returned, which it may do later if the operation
/// was cancelled or timed out. A closure that has not returned 10 s after its operation's end no longer keeps it.
///
/// ```swift
/// operation.addCondition(MutuallyExclusive<Database>())
/// operation.addCondition(MutuallyExclusive(category: "reports"))
/// ```
public struct MutuallyExclusive<Category>: OperationCondition, PurelyExclusive {
    private let category: String

    /// The category that is named by the type.
    public init() {
        category = "type \(String(reflecting: Category.self))"
    }

    /// "MutuallyExclusive" and the category.
    public var name: String { "MutuallyExclusive<\(category)>" }

    /// The category.
    public var exclusiveCategory: String? { category }

    /// It always holds; the category makes the operation wait.
    public func evaluate(
        for operation: AsyncOperation,
        completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        completion(.satisfied)
    }
}

extension MutuallyExclusive where Category == Void {
    /// The category of that name.
    public init(category: String) {
        self.category = "name \(category)"
    }
}

/// Holds if a block says so.
///
/// ```swift
/// operation.addCondition(BlockCondition { FileManager.default.fileExists(atPath: path) })
/// ```
public struct BlockCondition: OperationCondition {
    private let decide: @Sendable (AsyncOperation, @escaping @Sendable (OperationConditionResult) -> Void) -> Void
    /// What the condition is called in errors.
    public let name: String

    /// Asks a block, on a thread of the system's global queue.
    ///
    /// - Parameters:
    ///   - name: What the condition is called in errors.
    ///   - block: Whether it holds. An error that it throws becomes the operation's error; false becomes
    ///     ``OperationError/conditionFailed(_:)``.
    public init(name: String = "BlockCondition", _ block: @escaping @Sendable () throws -> Bool) {
        self.name = name
        decide = { _, completion in completion(Result { try block() }.conditionResult(name)) }
    }

    /// Asks asynchronous code, in a task of its own, which is cancelled when the operation ends before, or another condition decides.
    ///
    /// - Parameters:
    ///   - name: What the condition is called in errors.
    ///   - block: Whether it holds. An error that it throws becomes the operation's error; false becomes
    ///     ``OperationError/conditionFailed(_:)``.
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

    /// Asks the block.
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

/// Holds if every operation that this one depends on has succeeded: none failed, timed out or was cancelled.
///
/// Otherwise the operation is cancelled with ``OperationError/dependenciesFailed(names:errors:)``, which carries the errors at
/// the root; along a chain of operations with this condition each tells of the first one's.
public struct NoFailedDependenciesCondition: OperationCondition {
    private let ignoresCancellations: Bool

    /// Makes the condition.
    ///
    /// - Parameter ignoreCancellations: Whether the operation is cancelled without an error, instead of with one, when a
    ///   dependency was cancelled without an error and none failed.
    public init(ignoreCancellations: Bool = false) {
        ignoresCancellations = ignoreCancellations
    }

    /// Looks at the dependencies, all of which have finished.
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
    /// The error of an operation that depends on one which did not succeed.
    static func dependencyFailed(_ operation: Operation, _ error: any Error) -> OperationError {
        .dependenciesFailed(names: [operation.label], errors: error is CancellationError ? [] : error.roots)
    }
}

extension Operation {
    /// What the operation is called in errors.
    fileprivate var label: String { name ?? "\(type(of: self))" }
}

extension Error {
    /// The errors that this one only passes on, or itself.
    fileprivate var roots: [any Error] {
        guard case .dependenciesFailed(_, let errors)? = self as? OperationError, !errors.isEmpty else { return [self] }
        return errors
    }
}

/// Holds if another condition does not.
///
/// If the other one did not decide in time this one has not either: it fails with
/// ``OperationError/conditionTimedOut(_:after:)``.
///
/// It takes over the other one's dependency, but no exclusive category: that cannot be negated.
public struct NegatedCondition<Condition: OperationCondition>: OperationCondition {
    private let condition: Condition

    /// Turns `condition` round.
    public init(_ condition: Condition) {
        self.condition = condition
    }

    /// "not" and the other condition's name.
    public var name: String { "not \(condition.name)" }

    /// The other condition's.
    public func dependency(for operation: AsyncOperation) -> Operation? {
        condition.dependency(for: operation)
    }

    /// Fails with ``OperationError/conditionFailed(_:)`` if the other one holds.
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

/// Another condition, without the operation that it, or any condition that it is made of, would have run to make itself hold.
///
/// For "if we are signed in", where the condition alone would sign in first.
public struct SilentCondition<Condition: OperationCondition>: OperationCondition {
    private let condition: Condition

    /// Silences `condition`.
    public init(_ condition: Condition) {
        self.condition = condition
    }

    /// The other condition's name.
    public var name: String { condition.name }

    /// The other condition's category.
    public var exclusiveCategory: String? { condition.exclusiveCategory }

    /// The other condition's categories.
    public var exclusiveCategories: Set<String> { condition.exclusiveCategories }

    /// Evaluates the other condition as things are.
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
