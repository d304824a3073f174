public import Foundation

/// An operation that is over when you say so, not when its closure returns.
///
/// It hands itself to its closure. The closure may hop between threads as it likes; the operation keeps its place in
/// the queue until somebody calls ``finish()`` or ``cancel()``, or until its timeout has passed. Whichever comes
/// first decides, once: the others do nothing.
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
/// All of its methods are safe on any thread, at any time and any number of times. Nothing can stop a closure from
/// outside: one that goes on after a timeout or a cancellation sees ``isTimedOut`` or `isCancelled`, and is counted
/// in its queue's ``BackgroundQueue/overrunCount`` until it returns.
///
/// A subclass overrides ``main()``, ``execute()-swift.method`` or its asynchronous form instead of passing a closure. It must
/// not override `start()`, and its `isFinished` and `isExecuting` must stay what they are here.
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
/// Unchecked because `Operation` is a class that others may subclass. What changes here is the atomic state; each
/// variable below says who may touch it when, and the state's transitions order those accesses.
open class AsyncOperation: Operation, @unchecked Sendable {
    /// The closure that an operation is made of.
    public typealias Closure = @Sendable (AsyncOperation) -> Void

    /// How long the operation may run, in seconds from its start. Zero, negative, infinite and undefined values, and
    /// those of more than a hundred years, mean that it may run forever.
    public let timeout: TimeInterval

    /// What a ``BackgroundQueue`` does when an operation of this name is already there.
    public let uniquenessPolicy: AsyncOperationUniquenessPolicy

    let state = AsyncOperationState()
    final let slot = AttachmentSlot()

    /// Touched by the one who claimed the call; if nobody did, by the one who decided the ending before the start, then by
    /// the one who closes.
    final var closure: Closure?
    /// Touched by the one who decided the ending.
    final var onTimeoutCallback: Closure?
    /// Touched by the one who decided the ending.
    final var onEnd: (@Sendable (AsyncOperation, AsyncOperationEnding) -> Void)?
    /// The deadline of an operation that goes on when its closure has returned, or that found no room on the board.
    final let deadline = DeadlineSlot()
    /// When its time is over; 0 if never. Written by the one who claimed the start, before anybody watches.
    final var due: UInt64 = 0
    /// Written by the queue before it enqueues the operation. Taken by the one who closes or, if the closure overran, by
    /// whichever comes last: the one who tells the owner, or the one whose closure returned.
    final var membership: QueueRegistration?

    /// Makes an operation that runs what its subclass overrides: ``main()``, ``execute()-swift.method`` or its asynchronous
    /// form. It may run for ten seconds. One that overrides nothing is finished as soon as it runs.
    public override init() {
        timeout = 10
        uniquenessPolicy = .default
        super.init()
    }

    /// Makes an operation that runs what its subclass overrides: ``main()``, ``execute()-swift.method`` or its asynchronous
    /// form. One that overrides nothing is finished as soon as it runs.
    ///
    /// - Parameters:
    ///   - name: The name of the operation, for people and for the uniqueness policy.
    ///   - timeout: How long it may run, in seconds from its start. Zero, negative and infinite values mean forever.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does when an operation of this name is already there.
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

    /// Makes an operation that runs what its subclass overrides, with its timeout as a `Duration`.
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

    /// Makes an operation.
    ///
    /// - Parameters:
    ///   - name: What the operation is called, for people and for the uniqueness policy.
    ///   - timeout: How long it may run, in seconds from its start. After that it is finished, ``isTimedOut`` is true
    ///     and it leaves its queue. Zero, negative and infinite values mean forever.
    ///   - onTimeoutCallback: Called once if it times out, on `OperationQueue.background`.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does when an operation of this name is already there.
    ///   - closure: The work. It gets the operation and makes sure that somebody calls ``finish()`` on it.
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

    /// Makes an operation of a closure, with its timeout as a `Duration`.
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

    /// Makes an operation whose owner learns how it ended.
    ///
    /// - Parameter onEnd: Called exactly once for every ending, on the thread that decided it, before the operation is
    ///   seen as finished and leaves its queue. It must be quick and must not block: after a timeout that thread is the
    ///   deadline timer's.
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

    /// Gives the operation its closures. To be called right after it was made without.
    final func prepare(onTimeoutCallback: Closure?, _ closure: @escaping Closure) {
        self.onTimeoutCallback = onTimeoutCallback
        self.closure = closure
    }

    // MARK: What is known

    /// The operation for people: its name, what it is doing, and how long it may.
    open override var description: String {
        let label = name.map { " \"\($0)\"" } ?? ""
        return "\(type(of: self))\(label) (\(phrase), \(timeoutPhrase))"
    }

    /// Whether the operation goes on when ``main()`` has returned: true. A subclass whose ``main()`` does all of its work
    /// before it returns overrides this with false, and need not call ``finish()``.
    open override var isAsynchronous: Bool {
        true
    }

    /// Whether a queue may start the operation: what it depends on has finished and its conditions hold. One that has
    /// ended is ready to leave.
    ///
    /// The first look at an operation that depends on nothing unfinished begins the evaluation of its conditions: a queue
    /// looks when the operation is added.
    open override var isReady: Bool {
        let isUnblocked = isUnblocked
        let facts = state.facts
        if isUnblocked, facts.isUsed, facts.isDisjoint(with: [.attended, .dependent]) { return true }
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

    // MARK: What can be done

    /// Runs the closure, unless the operation has ended already. A queue calls this; so may you, once, for an operation
    /// that is in no queue: it then runs as soon as its conditions hold.
    open override func start() {
        // First, so that every condition which was taken before is evaluated.
        if state.claim() { startClaimed() }
    }

    /// Does the work: calls ``execute()-swift.method``. Called by ``start()`` once the operation is seen as running; on an
    /// operation that does not run it does nothing.
    ///
    /// A subclass may override it. Unless ``isAsynchronous`` is false the operation goes on after the return, until
    /// ``finish()``, ``cancel()`` or the timeout.
    open override func main() {
        execute()
    }

    /// Does the work: runs the closure, or if the operation was made without one its asynchronous form.
    ///
    /// A subclass may override it. Unless ``isAsynchronous`` is false the operation goes on after the return, until
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

    /// Does the work of a subclass that overrides it, in a `Task`: does nothing unless overridden.
    ///
    /// The operation is finished when it returns, with the error that it throws. When the operation is cancelled or times
    /// out, the task is cancelled. It is not called on an operation that was made with a closure.
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

    /// Called once if the operation times out, on `OperationQueue.background`: does nothing unless overridden. What
    /// `onTimeoutCallback` is to an operation made of a closure.
    open func didTimeOut() {}

    /// Ends the operation: its work is done. Before it has started this means that its closure never runs and that it
    /// leaves its queue as soon as its turn has come. Does nothing when the operation has ended already.
    open func finish() {
        end(.finished)
    }

    /// Ends the operation, its work undone. Before it has started its closure never runs; afterwards the closure should
    /// look at `isCancelled` and return. Does nothing when the operation has ended already.
    open override func cancel() {
        end(.cancelled)
    }

    /// Makes the operation wait for another one. A dependency that is added after the conditions were evaluated is
    /// waited for, but not looked at by them.
    open override func addDependency(_ operation: Operation) {
        state.depend()
        DependencyChange.perform(for: self) { super.addDependency(operation) }
        if let attachments, !isUnblocked { attachments.evaluation.withdraw(self) }
        watchNewDependency(operation)
    }

    /// The operations that this one depends on. As in Foundation's queue, barriers are not among them.
    open override var dependencies: [Operation] {
        super.dependencies.filter { !($0 is BarrierBlock) }
    }

    /// Takes back the operation's dependence on another one. It may be in a queue: if nothing else keeps it waiting, it runs.
    open override func removeDependency(_ operation: Operation) {
        let isFirst = state.unbind()
        DependencyChange.perform(for: self) { super.removeDependency(operation) }
        unwatch(operation)
        lookAtDependencies(isFirst: isFirst)
    }

    // MARK: How it ends

    /// The ending has been decided: what the operation has started need not go on.
    func endParts(_ ending: AsyncOperationEnding) {}

    /// Whether ``tellOwner()`` is called later, when what the operation has started has ended.
    func waitsForParts(_ ending: AsyncOperationEnding) -> Bool {
        false
    }

    /// The operation had ended when its time was over.
    func timeIsOver() {}

    /// The operation has ended and needs nothing any more that it was given. May be called twice, never at once.
    func letGo() {}

    #if !canImport(ObjectiveC)
        /// Called when the operation has finished, and let go of then, as on Apple's platforms.
        open override var completionBlock: (@Sendable () -> Void)? {
            get { super.completionBlock }
            set {
                super.completionBlock = newValue
                state.complete()
            }
        }

        final func letGoOfCompletion() {
            let block = super.completionBlock
            super.completionBlock = nil
            release(block)
        }
    #endif

    // MARK: The queue's side

    /// Called by the queue before it enqueues the operation.
    final func join(_ membership: QueueRegistration) {
        self.membership = membership
        state.enqueue()
    }

    /// Called by a queue that does not take the operation: it ends here.
    final func turnAway() {
        cancel()
        start()
    }
}
