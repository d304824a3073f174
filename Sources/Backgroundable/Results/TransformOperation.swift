public import Foundation

/// An operation that computes a value from another one: from the result of an operation that it depends on, or from an
/// ``input`` that is set.
///
/// ```swift
/// let page = ResultOperation { try await fetch(url) }
/// let size = TransformOperation { (page: Data) in page.count }.injectResult(from: page)
/// queue.addOperations([page, size])
/// print(try await size.value)
/// ```
///
/// If the other operation has no value, this operation is cancelled with
/// ``OperationError/dependenciesFailed(names:errors:)`` and does not run. If it runs without an input, it fails with
/// ``OperationError/noInput``. A subclass overrides ``AsyncOperation/execute()-swift.method`` and reads its ``input``.
///
/// Unchecked because the class is open. All mutable state is locked.
open class TransformOperation<Input: Sendable, Output: Sendable>: ResultOperation<Output>, @unchecked Sendable {
    private let inputSlot = InputSlot<Input>()

    // These two initializers keep those of `ResultOperation`, whose closures take no input, from being inherited.

    /// Creates an operation that runs the methods of its subclass.
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for log texts and the uniqueness policy.
    ///   - timeout: How long the operation may run from its start, in seconds. Zero, negative and infinite values mean
    ///     no limit.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does if it already has an operation of this name.
    public override init(
        name: String? = nil,
        timeout: TimeInterval = 10,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default
    ) {
        super.init(name: name, timeout: timeout, uniquenessPolicy: uniquenessPolicy)
    }

    /// Creates an operation that runs the methods of its subclass, with its timeout as a `Duration`.
    public override init(
        name: String? = nil,
        timeout: Duration,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default
    ) {
        super.init(name: name, timeout: timeout, uniquenessPolicy: uniquenessPolicy)
    }

    override func letGo() {
        super.letGo()
        if let input = inputSlot.close() { release(input) }
    }

    /// The input of the operation. It is nil again when the operation has ended, and stays nil from then on.
    public final var input: Input? {
        get { inputSlot.input }
        set { inputSlot.input = newValue }
    }

    /// Uses the result of another operation as the input, and adds a dependency on that operation.
    ///
    /// Must be called before the operation is added to a queue, like ``AsyncOperation/addCondition(_:)``.
    ///
    /// - Returns: This operation, so that calls can be chained.
    @discardableResult
    public final func injectResult(from source: ResultOperation<Input>) -> Self {
        injectResult(from: source) { $0 }
    }

    /// Computes the input from the result of another operation, and adds a dependency on that operation.
    ///
    /// Must be called before the operation is added to a queue, like ``AsyncOperation/addCondition(_:)``.
    ///
    /// - Parameters:
    ///   - source: The operation that has the value.
    ///   - transform: Computes the input from the value. If it throws, this operation is cancelled with the error.
    /// - Returns: This operation, so that calls can be chained.
    @discardableResult
    public final func injectResult<Value>(
        from source: ResultOperation<Value>,
        via transform: @escaping @Sendable (Value) throws -> Input
    ) -> Self {
        addDependency(source)
        addCondition(InjectedResult(source: source, target: inputSlot, transform: transform))
        return self
    }
}

extension TransformOperation {
    /// Creates an operation whose value a closure computes from the input.
    ///
    /// Use it for work that is done when the call returns. The closure may block: it runs on a thread of the
    /// operation's queue. A timeout ends the operation but does not stop the closure.
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for log texts and the uniqueness policy.
    ///   - timeout: How long the operation may run from its start, in seconds or as a `Duration`. Zero, negative and
    ///     infinite values mean no limit.
    ///   - onTimeoutCallback: Called once on `OperationQueue.background` if the operation times out.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does if it already has an operation of this name.
    ///   - work: The work. If it throws, the operation ends with that error.
    public convenience init(
        name: String? = nil,
        timeout: some TimeSpan = 10.0,
        onTimeoutCallback: (@Sendable (AsyncOperation) -> Void)? = nil,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        _ work: @escaping @Sendable (Input) throws -> Output
    ) {
        self.init(name: name, timeout: timeout.timeInterval, uniquenessPolicy: uniquenessPolicy)
        prepare(onTimeoutCallback: onTimeoutCallback) {
            ($0 as? Self)?.run { operation, input in
                operation.finish(withResult: Result { try work(input) })
            }
        }
    }

    /// Creates an operation whose value asynchronous code computes from the input.
    ///
    /// The work runs in a task, which is cancelled if the operation is cancelled or times out.
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for log texts and the uniqueness policy.
    ///   - timeout: How long the operation may run from its start, in seconds or as a `Duration`. Zero, negative and
    ///     infinite values mean no limit.
    ///   - onTimeoutCallback: Called once on `OperationQueue.background` if the operation times out.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does if it already has an operation of this name.
    ///   - work: The work. If it throws, the operation ends with that error.
    public convenience init(
        name: String? = nil,
        timeout: some TimeSpan = 10.0,
        onTimeoutCallback: (@Sendable (AsyncOperation) -> Void)? = nil,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        _ work: @escaping @Sendable (Input) async throws -> Output
    ) {
        self.init(name: name, timeout: timeout.timeInterval, uniquenessPolicy: uniquenessPolicy)
        prepare(onTimeoutCallback: onTimeoutCallback) {
            ($0 as? Self)?.run { operation, input in
                operation.beginTask { _ in operation.finish(returning: try await work(input)) }
            }
        }
    }

    private func run(_ work: (TransformOperation<Input, Output>, Input) -> Void) {
        guard let input else { return finish(with: OperationError.noInput) }
        work(self, input)
    }
}

/// The place of an operation's input. It stays empty once it is closed, whoever then still has a value for it: an
/// operation can be cancelled while its input is being computed.
private final class InputSlot<Input: Sendable>: Sendable {
    private let state = Locked<(input: Input?, isClosed: Bool)>((nil, false))

    var input: Input? {
        get { state.withLock { $0.input } }
        set { state.withLock { if !$0.isClosed { $0.input = newValue } } }
    }

    /// Closes the slot, and returns what was in it.
    func close() -> Input? {
        state.withLock {
            $0.isClosed = true
            return $0.input.take()
        }
    }
}

/// Holds if an operation has a value, and stores that as the input of the dependent operation.
private struct InjectedResult<Value: Sendable, Input: Sendable>: OperationCondition {
    let source: ResultOperation<Value>
    let target: InputSlot<Input>
    let transform: @Sendable (Value) throws -> Input

    func evaluate(
        for operation: AsyncOperation,
        completion: @escaping @Sendable (OperationConditionResult) -> Void
    ) {
        switch source.result {
        case .success(let value): completion(inject(value))
        case .failure(let error): completion(.failed(OperationError.dependencyFailed(source, error)))
        case nil: completion(.failed(OperationError.dependencyFailed(source, OperationError.noResult)))
        }
    }

    private func inject(_ value: Value) -> OperationConditionResult {
        do {
            let input = try transform(value)
            target.input = input
            return .satisfied
        } catch {
            return .failed(error)
        }
    }
}
