public import Foundation

/// An operation that runs another one until it succeeds.
///
/// Operations run once, so each attempt is a new one:
///
/// ```swift
/// let upload = RetryOperation(attempts: 5, delay: .exponential(from: 0.5).jittered()) { attempt in
///     ContinuationOperation(timeout: 30) { continuation in send(file) { continuation($0) } }
/// }
/// ```
///
/// One that makes an operation a second time fails with ``OperationError/usedAttempt(_:)``.
///
/// An attempt has failed when it has an error or timed out. One that was cancelled without an error is not repeated. The
/// errors of the last attempt are the operation's. Unchecked for the reason of its superclass.
public final class RetryOperation: GroupOperation, @unchecked Sendable {
    /// What is known when an attempt has failed.
    public struct Failure: Sendable {
        /// Which attempt it was, counted from 1.
        public let attempt: Int
        /// Why it failed.
        public let errors: [any Error]
        /// How long the strategy says to wait before the next one, in seconds.
        public let delay: TimeInterval
    }

    /// What users decide, while there may be attempts.
    private struct Recipe: Sendable {
        let delay: DelayStrategy
        let shouldRetry: @Sendable (Failure) -> Bool
        let make: @Sendable (Int) -> AsyncOperation
    }

    private struct Retries: ~Copyable {
        var recipe: Recipe?
        /// Which attempt is the last one that was made.
        var number = 0
        /// That attempt, while it is under way.
        var attempt: AsyncOperation?
        /// The end of the pause between two attempts.
        var pauseEnd: Deadline?
    }

    private let attempts: Int
    private let retries: Locked<Retries>

    /// Makes an operation that repeats.
    ///
    /// - Parameters:
    ///   - name: What the operation is called, for people and for the uniqueness policy.
    ///   - attempts: How many attempts there may be, the first one included; at least one is made.
    ///   - delay: How long to wait before each further attempt.
    ///   - timeout: How long all of it may take, in seconds or as a `Duration`, from the start; zero, negative and
    ///     infinite values mean forever.
    ///   - onTimeoutCallback: Called once if it times out, on `OperationQueue.background`.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does when an operation of this name is already there.
    ///   - shouldRetry: Whether to go on after a failure; asked only while attempts are left.
    ///   - make: Makes the operation of an attempt, counted from 1.
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

    /// How many attempts have been made.
    public var attemptsMade: Int {
        retries.withLock { $0.number }
    }

    /// Decides whether to try again.
    public override func partDidFinish(_ operation: Operation, errors: [any Error]) -> [any Error] {
        // What an attempt adds to its queue is not an attempt.
        guard isAttempt(operation) else { return [] }
        let made = attemptsMade
        // What was called off was not done, and is not to be done.
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
            // What makes the next attempt is not ours: it must not hold up other deadlines.
            DispatchQueue.global().async {
                self.tryNext()
                self.settle()
            }
        }
        // It may have ended before there was a pause to end.
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

    /// Whether the operation is the last attempt, which has finished.
    private func isAttempt(_ operation: Operation) -> Bool {
        retries.withLock { state in
            guard state.attempt === operation else { return false }
            state.attempt = nil
            return true
        }
    }
}
