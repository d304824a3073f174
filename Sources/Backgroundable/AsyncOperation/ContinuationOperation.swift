import Foundation

/// An operation that finishes when its block calls a continuation.
///
/// ```swift
/// let operation = ContinuationOperation { continuation in
///     upload(file) { error in continuation(error) }
/// }
/// operation.addCondition(MutuallyExclusive<Uplink>())
/// operation.addObserver(FinishedObserver { _, errors in report(errors) })
/// ```
///
/// If the continuation is never called, the operation times out. Unchecked for the same reason as its superclass.
public final class ContinuationOperation: AsyncOperation, @unchecked Sendable {
    /// The type of the continuation.
    public typealias ContinuationBlockType = OperationContinuation

    /// Creates an operation that its continuation finishes.
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for log texts and the uniqueness policy.
    ///   - timeout: How long the operation may run from its start, in seconds or as a `Duration`. Zero, negative and
    ///     infinite values mean no limit.
    ///   - onTimeoutCallback: Called once on `OperationQueue.background` if the operation times out.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does if it already has an operation of this name.
    ///   - block: The work. It must make sure that the continuation is called, with an error or with nil.
    public init(
        name: String? = nil,
        timeout: some TimeSpan = 10.0,
        onTimeoutCallback: (@Sendable (AsyncOperation) -> Void)? = nil,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        _ block: @escaping @Sendable (_ continuation: OperationContinuation) -> Void
    ) {
        super.init(
            name: name,
            timeout: timeout.timeInterval,
            onTimeoutCallback: onTimeoutCallback,
            uniquenessPolicy: uniquenessPolicy
        ) { operation in block(OperationContinuation(operation)) }
    }

    /// Creates an operation that finishes when its block returns or throws.
    ///
    /// It works like a `BlockOperation`, but has conditions, observers and a timeout.
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for log texts and the uniqueness policy.
    ///   - timeout: How long the operation may run from its start, in seconds or as a `Duration`. Zero, negative and
    ///     infinite values mean no limit. A timeout does not stop the block.
    ///   - onTimeoutCallback: Called once on `OperationQueue.background` if the operation times out.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does if it already has an operation of this name.
    ///   - block: The work. If it throws a `CancellationError`, the operation is cancelled.
    public init(
        name: String? = nil,
        timeout: some TimeSpan = 10.0,
        onTimeoutCallback: (@Sendable (AsyncOperation) -> Void)? = nil,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        block: @escaping @Sendable () throws -> Void
    ) {
        super.init(
            name: name,
            timeout: timeout.timeInterval,
            onTimeoutCallback: onTimeoutCallback,
            uniquenessPolicy: uniquenessPolicy
        ) { operation in operation.end(with: Result(catching: block)) }
    }
}

/// A function that finishes a ``ContinuationOperation``.
///
/// It can be called on any thread. Calls after the first have no effect, nor do calls after a cancellation or a
/// timeout. To pass it on as a closure, write `continuation.callAsFunction`.
public struct OperationContinuation: Sendable {
    private let operation: AsyncOperation

    init(_ operation: AsyncOperation) {
        self.operation = operation
    }

    /// Whether the operation has already ended. If so, the work may stop.
    public var isOver: Bool {
        operation.ending != nil
    }

    /// Finishes the operation with the given error, or successfully if that is nil.
    public func callAsFunction(_ error: (any Error)? = nil) {
        operation.finish(with: error)
    }

    /// Finishes the operation with the given error, or successfully if that is nil.
    public func callAsFunction(error: (any Error)?) {
        operation.finish(with: error)
    }
}
