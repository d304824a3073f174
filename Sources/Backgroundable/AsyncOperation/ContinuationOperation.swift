import Foundation

/// An operation whose block is handed a continuation, and which is finished when that is called.
///
/// ```swift
/// let operation = ContinuationOperation { continuation in
///     upload(file) { error in continuation(error) }
/// }
/// operation.addCondition(MutuallyExclusive<Uplink>())
/// operation.addObserver(FinishedObserver { _, errors in report(errors) })
/// ```
///
/// A continuation that is never called ends in the operation's timeout. Unchecked for the reason of its superclass.
public final class ContinuationOperation: AsyncOperation, @unchecked Sendable {
    /// What the block is handed.
    public typealias ContinuationBlockType = OperationContinuation

    /// Makes an operation that is finished by its continuation.
    ///
    /// - Parameters:
    ///   - name: What the operation is called, for people and for the uniqueness policy.
    ///   - timeout: How long it may run, in seconds or as a `Duration`, from its start; zero, negative and
    ///     infinite values mean forever.
    ///   - onTimeoutCallback: Called once if it times out, on `OperationQueue.background`.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does when an operation of this name is already there.
    ///   - block: The work. It makes sure that somebody calls the continuation, with an error or with nil.
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

    /// Makes an operation that is finished when its block returns, with the error that it throws; one that throws a
    /// `CancellationError` is cancelled.
    ///
    /// What a `BlockOperation` is to Foundation, with conditions, observers and a timeout.
    ///
    /// - Parameters:
    ///   - name: What the operation is called, for people and for the uniqueness policy.
    ///   - timeout: How long it may run, in seconds or as a `Duration`, from its start; zero, negative and
    ///     infinite values mean forever. The block is not stopped by it.
    ///   - onTimeoutCallback: Called once if it times out, on `OperationQueue.background`.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does when an operation of this name is already there.
    ///   - block: The work.
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

/// Finishes a ``ContinuationOperation``: call it like a function.
///
/// It may be called on any thread. Calls after the first do nothing, and neither do calls after the operation was
/// cancelled or timed out. To hand it on as a function, write `continuation.callAsFunction`.
public struct OperationContinuation: Sendable {
    private let operation: AsyncOperation

    init(_ operation: AsyncOperation) {
        self.operation = operation
    }

    /// Whether the operation has ended already, by a timeout or a cancellation: the work may stop.
    public var isOver: Bool {
        operation.ending != nil
    }

    /// Finishes the operation, with the error that kept it from succeeding if there is one.
    public func callAsFunction(_ error: (any Error)? = nil) {
        operation.finish(with: error)
    }

    /// Finishes the operation, with the error that kept it from succeeding if there is one.
    public func callAsFunction(error: (any Error)?) {
        operation.finish(with: error)
    }
}
