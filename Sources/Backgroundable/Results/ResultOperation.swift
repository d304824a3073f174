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
/// A closure that returns the value finishes the operation by returning or throwing. If a closure throws or awaits, it
/// has to return the value: the compiler reports a missing `return` if it ends with `operation.finish(returning: 3)`. A
/// closure that takes the operation, returns nothing, and neither throws nor awaits calls ``finish(returning:)`` or
/// ``finish(withResult:)``. So does a subclass that overrides ``AsyncOperation/execute()-swift.method``.
///
/// Unchecked because the class is open. All mutable state is locked.
open class ResultOperation<Output: Sendable>: AsyncOperation, @unchecked Sendable {
    private let output = Locked<Output?>(nil)

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

    /// Creates an operation whose closure makes sure that ``finish(returning:)`` or ``finish(withResult:)`` is called.
    ///
    /// ```swift
    /// ResultOperation<Data> { operation in
    ///     download(url) { result in operation.finish(withResult: result) }
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for log texts and the uniqueness policy.
    ///   - timeout: How long the operation may run from its start, in seconds or as a `Duration`. Zero, negative and
    ///     infinite values mean no limit.
    ///   - onTimeoutCallback: Called once on `OperationQueue.background` if the operation times out.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does if it already has an operation of this name.
    ///   - closure: The work, which may continue after the closure has returned.
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

    /// The result of the operation: its value, or the error for which it has none.
    ///
    /// Nil until the operation has ended. If the operation was cancelled without an error, the error is a
    /// `CancellationError`; if it finished without a value, ``OperationError/noResult``.
    public final var result: Result<Output, any Error>? {
        guard state.facts.contains(.endReported) else { return nil }
        if let error = errors.first { return .failure(error) }
        guard ending == .finished else { return .failure(CancellationError()) }
        return output.withLock { $0 }.map { .success($0) } ?? .failure(OperationError.noResult)
    }

    /// The value. Waits until the operation has finished, without blocking a thread.
    ///
    /// - Throws: The error of ``result``; `CancellationError` if the waiting task is cancelled first.
    public final var value: Output {
        get async throws {
            try await finished()
            return try (result ?? .failure(OperationError.noResult)).get()
        }
    }

    /// Finishes the operation with its value. Does nothing if the operation has already ended.
    public final func finish(returning value: Output) {
        output.withLock { output in
            if output == nil, ending == nil { output = value }
        }
        finish()
    }

    /// Finishes the operation with its value, or ends it with an error; a `CancellationError` cancels it. Does nothing
    /// if the operation has already ended.
    public final func finish(withResult result: Result<Output, any Error>) {
        switch result {
        case .success(let value): finish(returning: value)
        case .failure(let error): end(with: .failure(error))
        }
    }
}
