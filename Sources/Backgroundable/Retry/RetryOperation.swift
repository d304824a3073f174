public import Foundation

/// An operation that runs another one until that succeeds.
///
/// An operation runs only once, so each attempt needs a new one:
///
/// ```swift
/// let upload = RetryOperation(attempts: 5, delay: .exponential(from: 0.5).jittered()) { attempt in
///     ContinuationOperation(timeout: 30) { continuation in send(file) { continuation($0) } }
/// }
/// ```
///
/// If the closure returns an operation that was used before, the operation fails with
/// ``OperationError/usedAttempt(_:)``.
///
/// An attempt has failed if it has an error or timed out. An attempt that was cancelled without an error is not
/// retried. The errors of the operation are those of the last attempt. Unchecked for the same reason as its superclass.
public final class RetryOperation: GroupOperation, @unchecked Sendable {
    /// A failed attempt.
    public struct Failure: Sendable {
        /// The number of the attempt, counted from 1.
        public let attempt: Int
        /// The errors of the attempt.
        public let errors: [any Error]
        /// The delay before the next attempt, in seconds.
        public let delay: TimeInterval
    }

    /// The closures and settings of the user, kept while further attempts are possible.
    private struct Recipe: Sendable {
        let delay: DelayStrategy
        let shouldRetry: @Sendable (Failure) -> Bool
        let make: @Sendable (Int) -> AsyncOperation
    }

    private struct Retries: ~Copyable {
        var recipe: Recipe?
        /// The number of the last attempt that was made.
        var number = 0
        /// The current attempt.
        var attempt: AsyncOperation?
        /// The deadline that ends the delay between two attempts.
        var pauseEnd: Deadline?
    }

    private let attempts: Int
    private let retries: Locked<Retries>

    /// Creates an operation that retries.
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for log texts and the uniqueness policy.
    ///   - attempts: The maximum number of attempts, including the first. At least one is made.
    ///   - delay: The delay before each further attempt.
    ///   - timeout: How long all attempts together may take from the start, in seconds or as a `Duration`. Zero,
    ///     negative and infinite values mean no limit.
    ///   - onTimeoutCallback: Called once on `OperationQueue.background` if the operation times out.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does if it already has an operation of this name.
    ///   - shouldRetry: Returns whether to retry after a failure. Called only while attempts are left.
    ///   - make: Creates the operation of an attempt. Attempts are counted from 1.
    public init(
        name: String? = nil,
        attempts: Int = 3,
        delay: DelayStrategy = .exponential().jittered(),
        timeout: some TimeSpan = TimeInterval.infinity,
        onTimeoutCallback: (@Sendable (AsyncOperation) -> Void)? = nil,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        shouldRetry: @escaping @Sendable (Failure) -> Bool = { _ in true },
        _ make: @escaping @Sendable (_ attempt: Int) -> AsyncOperation
    ) {
        self.attempts = max(1, attempts)
        retries = Locked(Retries(recipe: Recipe(delay: delay, shouldRetry: shouldRetry, make: make)))
        super.init(
            name: name,
            timeout: timeout.timeInterval,
            onTimeoutCallback: onTimeoutCallback,
            uniquenessPolicy: uniquenessPolicy
        )
        addObserver(StartedObserver { ($0 as? RetryOperation)?.tryNext() })
    }

    /// The number of attempts that have been made.
    public var attemptsMade: Int {
        retries.withLock { $0.number }
    }

    /// Decides whether to retry, and keeps only the errors of the last attempt.
    public override func partDidFinish(_ operation: Operation, errors: [any Error]) -> [any Error] {
        // An operation that an attempt adds to its queue is not an attempt.
        guard isAttempt(operation) else { return [] }
        let made = attemptsMade
        // An attempt that was cancelled without an error is not retried, and cancels the operation.
        if errors.isEmpty, ending == nil, (operation as? AsyncOperation)?.ending == .cancelled { cancel() }
        guard !errors.isEmpty, made < attempts, let recipe = retries.withLock({ $0.recipe }) else { return errors }
        let failure = Failure(attempt: made, errors: errors, delay: recipe.delay.delay(beforeRetry: made))
        guard recipe.shouldRetry(failure), stayOpen() else { return errors }
        guard failure.delay > 0 else {
            tryNext()
            settle()
            return []
        }
        pause(failure.delay)
        return []
    }

    private func pause(_ seconds: TimeInterval) {
        let deadline = DeadlineTimer.shared.schedule(after: .seconds(seconds)) {
            // Creating the next attempt runs user code, which must not delay other deadlines.
            DispatchQueue.global().async {
                self.tryNext()
                self.settle()
            }
        }
        // The operation may have ended before the deadline was stored.
        let isOver = retries.withLock { state in
            if state.recipe != nil { state.pauseEnd = deadline }
            return state.recipe == nil
        }
        if isOver { deadline.cancel() }
    }

    private func tryNext() {
        guard ending == nil else { return }
        let (number, recipe) = retries.withLock { state in
            state.number += 1
            return (state.number, state.recipe)
        }
        guard let operation = recipe?.make(number) else { return }
        guard !operation.state.facts.isTaken else { return finish(with: OperationError.usedAttempt(number)) }
        retries.withLock { state in
            if state.recipe != nil { state.attempt = operation }
        }
        addOperation(operation)
    }

    override func letGo() {
        let (recipe, attempt, pauseEnd) = retries.withLock { state in
            (state.recipe.take(), state.attempt.take(), state.pauseEnd.take())
        }
        pauseEnd?.cancel()
        if let recipe { release(recipe) }
        if let attempt { release(attempt) }
    }

    /// Returns whether the operation is the current attempt, and clears that.
    private func isAttempt(_ operation: Operation) -> Bool {
        retries.withLock { state in
            guard state.attempt === operation else { return false }
            state.attempt = nil
            return true
        }
    }
}
