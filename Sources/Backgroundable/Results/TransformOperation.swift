public import Foundation

/// An operation that makes a value of another one's: of the result of an operation that it depends on, or of an
/// ``input`` that is set.
///
/// ```swift
/// let page = ResultOperation { try await fetch(url) }
/// let size = TransformOperation { (page: Data) in page.count }.injectResult(from: page)
/// queue.addOperations([page, size])
/// print(try await size.value)
/// ```
///
/// If the other operation produced no value this one is cancelled with ``OperationError/dependenciesFailed(names:errors:)``
/// and does not run. One that runs without an input fails with ``OperationError/noInput``. A subclass overrides
/// ``AsyncOperation/execute()-swift.method`` and looks at its ``input``.
///
/// Unchecked because it may be subclassed; what changes is in a lock.
open class TransformOperation<Input: Sendable, Output: Sendable>: ResultOperation<Output>, @unchecked Sendable {
    private let stored = Locked<Input?>(nil)

    // These two, so that the initializers with a `ResultOperation`'s closures, which take no input, are not inherited.

    /// Makes an operation that runs what its subclass overrides.
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for people and for the uniqueness policy.
    ///   - timeout: How long it may run, in seconds from its start; zero, negative and infinite values mean forever.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does when an operation of this name is already there.
    public override init(
        name: String? = nil,
        timeout: TimeInterval = 10,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default
    ) {
        super.init(name: name, timeout: timeout, uniquenessPolicy: uniquenessPolicy)
    }

    /// Makes an operation that runs what its subclass overrides, with its timeout as a `Duration`.
    public override init(
        name: String? = nil,
        timeout: Duration,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default
    ) {
        super.init(name: name, timeout: timeout, uniquenessPolicy: uniquenessPolicy)
    }

    override func letGo() {
        super.letGo()
        if let input = stored.withLock({ $0.take() }) { release(input) }
    }

    /// What the operation works on; nil again when it has finished.
    public final var input: Input? {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
    }

    /// Takes the result of another operation as this one's input, and depends on that operation.
    ///
    /// To be called before the operation is added to a queue, like ``AsyncOperation/addCondition(_:)``.
    ///
    /// - Returns: The operation, so that calls can be chained.
    @discardableResult
    public final func injectResult(from source: ResultOperation<Input>) -> Self {
        injectResult(from: source) { $0 }
    }

    /// Makes this operation's input of the result of another one, and depends on that operation.
    ///
    /// To be called before the operation is added to a queue, like ``AsyncOperation/addCondition(_:)``.
    ///
    /// - Parameters:
    ///   - source: The operation whose value is taken.
    ///   - transform: Makes the input of the value. If it throws, this operation is cancelled with the error.
    /// - Returns: The operation, so that calls can be chained.
    @discardableResult
    public final func injectResult<Value>(
        from source: ResultOperation<Value>,
        via transform: @escaping @Sendable (Value) throws -> Input
    ) -> Self {
        addDependency(source)
        addCondition(InjectedResult(source: source, target: stored, transform: transform))
        return self
    }
}

extension TransformOperation {
    /// Makes an operation whose value a closure makes of its input.
    ///
    /// For work that is done when the call returns, and may block. It runs on a thread of the operation's queue; the
    /// timeout does not stop it.
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for people and for the uniqueness policy.
    ///   - timeout: How long it may run, in seconds or as a `Duration`, from its start; zero, negative and infinite values
    ///     mean forever.
    ///   - onTimeoutCallback: Called once if it times out, on `OperationQueue.background`.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does when an operation of this name is already there.
    ///   - work: The work. An error that it throws is the operation's.
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

    /// Makes an operation whose value asynchronous code makes of its input.
    ///
    /// The work runs in a task, which is cancelled when the operation is cancelled or times out.
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for people and for the uniqueness policy.
    ///   - timeout: How long it may run, in seconds or as a `Duration`, from its start; zero, negative and infinite values
    ///     mean forever.
    ///   - onTimeoutCallback: Called once if it times out, on `OperationQueue.background`.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does when an operation of this name is already there.
    ///   - work: The work. An error that it throws is the operation's.
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

/// Holds if an operation produced a value, which it puts where the dependent operation finds it.
private struct InjectedResult<Value: Sendable, Input: Sendable>: OperationCondition {
    let source: ResultOperation<Value>
    let target: Locked<Input?>
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
            target.withLock { $0 = input }
            return .satisfied
        } catch {
            return .failed(error)
        }
    }
}
