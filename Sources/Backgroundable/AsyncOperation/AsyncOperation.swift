public import Foundation

/// An operation that ends when its code finishes it, not when its closure returns.
///
/// The closure receives the operation and may continue on other threads. The operation keeps its place in the queue
/// until ``finish()`` or ``cancel()`` is called or the timeout passes. The first of these determines how it ends; later
/// ones do nothing.
///
/// ```swift
/// OperationQueue.background.addOperation(
///     AsyncOperation(name: "refresh", timeout: 20) { operation in
///         load { result in
///             guard !operation.isCancelled else { return }
///             show(result)
///             operation.finish()
///         }
///     }
/// )
/// ```
///
/// All methods can be called on any thread, at any time and repeatedly. A running closure cannot be stopped from
/// outside: after a timeout or a cancellation it should check ``isTimedOut`` or `isCancelled` and return. Until it
/// does, it counts in its queue's ``BackgroundQueue/overrunCount``.
///
/// A subclass overrides ``main()``, ``execute()-swift.method`` or the asynchronous form of that instead of passing a
/// closure. It must not override `start()`, `isFinished` or `isExecuting`.
///
/// ```swift
/// final class Upload: AsyncOperation, @unchecked Sendable {
///     let url: URL
///
///     init(url: URL) {
///         self.url = url
///         super.init(name: "upload", timeout: 60)
///     }
///
///     override func execute() {
///         send(url) { error in self.finish(with: error) }
///     }
/// }
/// ```
///
/// Unchecked because `Operation` is an open class. All mutable state is in the atomic state word, or in the variables
/// below, each of which documents its owner; the transitions of the state order the accesses.
open class AsyncOperation: Operation, @unchecked Sendable {
    /// The type of an operation's closure.
    public typealias Closure = @Sendable (AsyncOperation) -> Void

    /// How long the operation may run, in seconds from its start. Zero, negative, infinite and NaN values, and values
    /// of a hundred years or more, mean no limit.
    public let timeout: TimeInterval

    /// What a ``BackgroundQueue`` does if it already has an operation of this name.
    public let uniquenessPolicy: AsyncOperationUniquenessPolicy

    let state = AsyncOperationState()
    final let slot = AttachmentSlot()

    /// Owned by the thread that claims the call. If none does, owned by the thread that decides the ending before the
    /// start, then by the thread that closes the operation.
    final var closure: Closure?
    /// Owned by the thread that decides the ending.
    final var onTimeoutCallback: Closure?
    /// Owned by the thread that decides the ending.
    final var onEnd: (@Sendable (AsyncOperation, AsyncOperationEnding) -> Void)?
    /// The deadline of an operation that continues after its closure has returned, or that found no free entry in the
    /// table of running closures.
    final let deadline = DeadlineSlot()
    /// The time of the deadline, or 0 for none. Written by the thread that claimed the start, before the operation is
    /// watched.
    final var due: UInt64 = 0
    /// Written by the queue before it enqueues the operation. Taken by the thread that closes the operation. If the
    /// closure overran, taken by the later of two threads: the one that reports the end, and the one whose closure
    /// returns.
    final var membership: QueueRegistration?

    /// Creates an operation that runs the methods of its subclass, with a timeout of ten seconds.
    ///
    /// A subclass overrides ``main()``, ``execute()-swift.method`` or the asynchronous form of that. If it overrides
    /// none of them, the operation finishes as soon as it runs.
    public override init() {
        timeout = 10
        uniquenessPolicy = .default
        super.init()
    }

    /// Creates an operation that runs the methods of its subclass.
    ///
    /// A subclass overrides ``main()``, ``execute()-swift.method`` or the asynchronous form of that. If it overrides
    /// none of them, the operation finishes as soon as it runs.
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for log texts and the uniqueness policy.
    ///   - timeout: How long the operation may run from its start, in seconds. Zero, negative and infinite values mean
    ///     no limit.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does if it already has an operation of this name.
    public init(
        name: String? = nil,
        timeout: TimeInterval = 10,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default
    ) {
        self.timeout = timeout
        self.uniquenessPolicy = uniquenessPolicy
        super.init()
        self.name = name
    }

    /// Creates an operation that runs the methods of its subclass, with its timeout as a `Duration`.
    public init(
        name: String? = nil,
        timeout: Duration,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default
    ) {
        self.timeout = timeout.timeInterval
        self.uniquenessPolicy = uniquenessPolicy
        super.init()
        self.name = name
    }

    /// Creates an operation from a closure.
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for log texts and the uniqueness policy.
    ///   - timeout: How long the operation may run from its start, in seconds. When it passes, the operation ends and
    ///     leaves its queue, and ``isTimedOut`` is true. Zero, negative and infinite values mean no limit.
    ///   - onTimeoutCallback: Called once on `OperationQueue.background` if the operation times out.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does if it already has an operation of this name.
    ///   - closure: The work. It receives the operation and must make sure that ``finish()`` is called on it.
    public init(
        name: String? = nil,
        timeout: TimeInterval = 10,
        onTimeoutCallback: (@Sendable (AsyncOperation) -> Void)? = nil,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        _ closure: @escaping @Sendable (AsyncOperation) -> Void
    ) {
        self.timeout = timeout
        self.onTimeoutCallback = onTimeoutCallback
        self.uniquenessPolicy = uniquenessPolicy
        self.closure = closure
        super.init()
        self.name = name
    }

    /// Creates an operation from a closure, with its timeout as a `Duration`.
    public init(
        name: String? = nil,
        timeout: Duration,
        onTimeoutCallback: (@Sendable (AsyncOperation) -> Void)? = nil,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        _ closure: @escaping @Sendable (AsyncOperation) -> Void
    ) {
        self.timeout = timeout.timeInterval
        self.onTimeoutCallback = onTimeoutCallback
        self.uniquenessPolicy = uniquenessPolicy
        self.closure = closure
        super.init()
        self.name = name
    }

    /// Creates an operation that reports its ending to its owner.
    ///
    /// - Parameter onEnd: Called exactly once, on the thread that decided the ending, before the operation is visible
    ///   as finished and leaves its queue. It must be quick and must not block: after a timeout it runs on the deadline
    ///   timer's thread.
    package convenience init(
        name: String?,
        timeout: TimeInterval,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        onEnd: @escaping @Sendable (AsyncOperation, AsyncOperationEnding) -> Void,
        _ closure: @escaping @Sendable (AsyncOperation) -> Void
    ) {
        self.init(name: name, timeout: timeout, uniquenessPolicy: uniquenessPolicy, closure)
        self.onEnd = onEnd
    }

    /// Sets the closures of an operation that was created without them. Must be called right after its creation.
    final func prepare(onTimeoutCallback: Closure?, _ closure: @escaping Closure) {
        self.onTimeoutCallback = onTimeoutCallback
        self.closure = closure
    }

    // MARK: State

    /// A description for log texts: the name, what the operation is doing, and its timeout.
    open override var description: String {
        let label = name.map { " \"\($0)\"" } ?? ""
        return "\(type(of: self))\(label) (\(phrase), \(timeoutPhrase))"
    }

    /// Whether the operation continues after ``main()`` has returned: true by default. A subclass whose ``main()``
    /// completes the work before it returns overrides this with false, and need not call ``finish()``.
    open override var isAsynchronous: Bool {
        true
    }

    /// Whether a queue may start the operation: its dependencies have finished and its conditions hold. An operation
    /// that has ended is ready, so that it can leave its queue.
    ///
    /// The first read of this property without unfinished dependencies begins the evaluation of the conditions. A queue
    /// reads it when the operation is added.
    open override var isReady: Bool {
        let isUnblocked = isUnblocked
        let facts = state.facts
        if isUnblocked, facts.isUsed, facts.isDisjoint(with: [.hasAttachments, .dependent]) { return true }
        if DependencyChange.isUnderWay(for: self) { return isUnblocked && !mustAwaitConditions }
        if !facts.isUsed { state.ask() }
        return isUnblocked || isUnblockedAfterLook ? isReadyOnceUnblocked : false
    }

    open override var isExecuting: Bool {
        state.facts.isExecuting
    }

    open override var isFinished: Bool {
        state.facts.isFinished
    }

    open override var isCancelled: Bool {
        ending == .cancelled
    }

    // MARK: Running and ending

    /// Runs the closure, unless the operation has already ended.
    ///
    /// A queue calls this. For an operation that is in no queue, call it once: the operation runs as soon as its
    /// conditions hold.
    open override func start() {
        // This comes first, so that every condition that was accepted before is evaluated.
        if state.claim() { startClaimed() }
    }

    /// Calls ``execute()-swift.method``. ``start()`` calls this method once the operation is visible as executing;
    /// while the operation does not run, it does nothing.
    ///
    /// A subclass may override it. Unless ``isAsynchronous`` is false, the operation continues after the return until
    /// ``finish()``, ``cancel()`` or the timeout.
    open override func main() {
        execute()
    }

    /// Runs the closure, or the asynchronous form of this method if the operation was created without a closure.
    ///
    /// A subclass may override it. Unless ``isAsynchronous`` is false, the operation continues after the return until
    /// ``finish()``, ``cancel()`` or the timeout.
    open func execute() {
        guard state.call() else { return }
        if let work = closure.take() {
            work(self)
        } else if type(of: self) == AsyncOperation.self {
            finish()
        } else {
            beginTask { try await $0.execute() }
        }
    }

    /// Does the work of a subclass in a `Task`. The default implementation does nothing.
    ///
    /// The operation finishes when this method returns or throws. If the operation is cancelled or times out, the task
    /// is cancelled. This method is not called on an operation that was created with a closure.
    ///
    /// ```swift
    /// final class Refresh: AsyncOperation, @unchecked Sendable {
    ///     override func execute() async throws {
    ///         let page = try await fetch(url)
    ///         try await store(page)
    ///     }
    /// }
    /// ```
    open func execute() async throws {}

    /// Called once on `OperationQueue.background` if the operation times out. The default implementation does nothing.
    ///
    /// A subclass overrides it instead of passing an `onTimeoutCallback`.
    open func didTimeOut() {}

    /// Ends the operation as finished. If the operation has not started, its closure never runs, and the operation
    /// leaves its queue when its turn comes. Does nothing if the operation has already ended.
    open func finish() {
        end(.finished)
    }

    /// Ends the operation as cancelled. If the operation has not started, its closure never runs; a running closure
    /// should check `isCancelled` and return. Does nothing if the operation has already ended.
    open override func cancel() {
        end(.cancelled)
    }

    /// Makes the operation wait for another one. The operation also waits for a dependency that is added after its
    /// conditions were evaluated, but the conditions do not check it.
    open override func addDependency(_ operation: Operation) {
        state.depend()
        DependencyChange.perform(for: self) { super.addDependency(operation) }
        if let attachments, !isUnblocked { attachments.evaluation.withdraw(self) }
        watchNewDependency(operation)
    }

    /// The operations that this operation depends on. As in Foundation, barriers are not included.
    open override var dependencies: [Operation] {
        super.dependencies.filter { !($0 is BarrierBlock) }
    }

    /// Removes a dependency. If the operation is in a queue and nothing else blocks it, it runs.
    open override func removeDependency(_ operation: Operation) {
        let isFirst = state.unbind()
        DependencyChange.perform(for: self) { super.removeDependency(operation) }
        unwatch(operation)
        lookAtDependencies(isFirst: isFirst)
    }

    // MARK: Hooks for the end

    /// Called when the ending has been decided. A group cancels its parts here.
    func endParts(_ ending: AsyncOperationEnding) {}

    /// Whether ``reportEnd()`` is called later, when the parts of the operation have ended.
    func waitsForParts(_ ending: AsyncOperationEnding) -> Bool {
        false
    }

    /// Called when the timeout passes and the operation has already ended.
    func timeIsOver() {}

    /// Releases what the operation needs only until it has ended. May be called twice, but not concurrently.
    func letGo() {}

    #if !canImport(ObjectiveC)
        /// The block that is called when the operation has finished. It is released when its call begins, as on Apple's
        /// platforms.
        ///
        /// Not earlier: Foundation reads the block after the operation has finished, perhaps on another thread.
        open override var completionBlock: (@Sendable () -> Void)? {
            get { super.completionBlock }
            set { super.completionBlock = newValue.map { releasing($0) } }
        }

        private func releasing(_ block: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
            { [weak self] in
                self?.letGoOfCompletion()
                block()
            }
        }

        private func letGoOfCompletion() {
            super.completionBlock = nil
        }
    #endif

    // MARK: Calls from the queue

    /// Registers the operation with its queue. The queue calls this before it enqueues the operation.
    final func join(_ membership: QueueRegistration) {
        self.membership = membership
        state.register()
    }

    /// The background queue, or nil if the operation is in none. Unlike `membership`, any thread may read it while the
    /// operation has not ended.
    final var registeredQueue: BackgroundQueue? {
        state.facts.contains(.registered) ? membership?.queue : nil
    }

    /// Ends an operation that its queue does not accept.
    final func turnAway() {
        cancel()
        start()
    }
}
