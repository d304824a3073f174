public import Foundation

/// An operation that produces a value.
///
/// ```swift
/// let page = ResultOperation { try await fetch(url) }
/// let size = TransformOperation { (page: Data) in page.count }.injectResult(from: page)
/// queue.addOperations([page, size])
/// print(try await size.value)
/// ```
///
/// A closure that returns the value, or throws, finishes the operation by that. One that throws or awaits has to: the
/// compiler misses a `return` in one that ends with `operation.finish(returning: 3)`. One that takes the operation, returns
/// nothing and does neither, and a subclass that overrides ``AsyncOperation/execute()-swift.method``, call ``finish(returning:)`` or
/// ``finish(withResult:)``.
///
/// Unchecked because it may be subclassed; what changes is in a lock.
open class ResultOperation<Output: Sendable>: AsyncOperation, @unchecked Sendable {
    private let output = Locked<Output?>(nil)

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

    /// Makes an operation whose closure makes sure that ``finish(returning:)`` or ``finish(withResult:)`` is called.
    ///
    /// ```swift
    /// ResultOperation<Data> { operation in
    ///     download(url) { result in operation.finish(withResult: result) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for people and for the uniqueness policy.
    ///   - timeout: How long it may run, in seconds or as a `Duration`, from its start; zero, negative and infinite values
    ///     mean forever.
    ///   - onTimeoutCallback: Called once if it times out, on `OperationQueue.background`.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does when an operation of this name is already there.
    ///   - closure: The work, which goes on until the operation is finished.
    public init(
        name: String? = nil,
        timeout: some TimeSpan = 10.0,
        onTimeoutCallback: (@Sendable (AsyncOperation) -> Void)? = nil,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        _ closure: @escaping @Sendable (ResultOperation<Output>) -> Void
    ) {
        super.init(
            name: name,
            timeout: timeout.timeInterval,
            onTimeoutCallback: onTimeoutCallback,
            uniquenessPolicy: uniquenessPolicy
        ) { operation in
            if let operation = operation as? ResultOperation<Output> { closure(operation) }
        }
    }

    override func letGo() {
        guard ending != .finished, let late = output.withLock({ $0.take() }) else { return }
        release(late)
    }

    /// How the operation ended: with its value, or with the error that kept it from producing one.
    ///
    /// Nil until it has ended. An operation that was cancelled without an error has a `CancellationError`, one that finished
    /// without a value has ``OperationError/noResult``.
    public final var result: Result<Output, any Error>? {
        guard state.facts.contains(.told) else { return nil }
        if let error = errors.first { return .failure(error) }
        guard ending == .finished else { return .failure(CancellationError()) }
        return output.withLock { $0 }.map { .success($0) } ?? .failure(OperationError.noResult)
    }

    /// The value, once the operation has finished. No thread is blocked.
    ///
    /// - Throws: The error of ``result``; `CancellationError` if the waiting task is cancelled before the operation has
    ///   finished.
    public final var value: Output {
        get async throws {
            try await finished()
            return try (result ?? .failure(OperationError.noResult)).get()
        }
    }

    /// Ends the operation with its value. Does nothing when the operation has ended already.
    public final func finish(returning value: Output) {
        output.withLock { output in
            if output == nil, ending == nil { output = value }
        }
        finish()
    }

    /// Ends the operation with its value, or with the error that kept it from producing one. Does nothing when the operation
    /// has ended already.
    public final func finish(withResult result: Result<Output, any Error>) {
        switch result {
        case .success(let value): finish(returning: value)
        case .failure(let error): end(with: .failure(error))
        }
    }
}
