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
/// Subclasses must not override `start()`, and their `isFinished` and `isExecuting` must stay what they are here.
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

    private let state = AsyncOperationState()

    /// Touched by the one who claimed the start.
    private var closure: Closure?
    /// Touched by the one who decided the ending.
    private var onTimeoutCallback: Closure?
    /// Touched by the one who decided the ending.
    private var onEnd: (@Sendable (AsyncOperation, AsyncOperationEnding) -> Void)?
    /// Written by the one who claimed the start, before opening; read by the one who closes.
    private var deadline: Deadline?
    /// Written by the queue before it enqueues the operation; taken by the one who closes, unless the closure overruns.
    private var membership: Membership?

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

    /// Makes an operation whose owner learns how it ended.
    ///
    /// - Parameter onEnd: Called exactly once for every ending, on the thread that decided it, before the operation is
    ///   seen as finished and leaves its queue. It must be quick and must not block: after a timeout that thread is the
    ///   deadline timer's.
    package init(
        name: String?,
        timeout: TimeInterval,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        onEnd: @escaping @Sendable (AsyncOperation, AsyncOperationEnding) -> Void,
        _ closure: @escaping @Sendable (AsyncOperation) -> Void
    ) {
        self.timeout = timeout
        self.uniquenessPolicy = uniquenessPolicy
        self.onEnd = onEnd
        self.closure = closure
        super.init()
        self.name = name
    }

    // MARK: What is known

    /// How the operation ended; nil while that is open.
    public final var ending: AsyncOperationEnding? {
        state.facts.ending
    }

    /// Whether the operation ended by its timeout.
    public final var isTimedOut: Bool {
        ending == .timedOut
    }

    /// Whether the closure's call has begun and not returned yet, whatever became of the operation.
    public final var isInClosure: Bool {
        state.facts.contains(.inClosure)
    }

    /// The operation for people: its name, what it is doing, and how long it may.
    open override var description: String {
        let label = name.map { " \"\($0)\"" } ?? ""
        return "AsyncOperation\(label) (\(state.facts.phrase), \(timeoutPhrase))"
    }

    open override var isAsynchronous: Bool {
        true
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
    /// that is in no queue.
    open override func start() {
        guard state.claim() else { return }
        let work = closure.take()
        if state.facts.ending == nil {
            deadline = DeadlineTimer.shared.schedule(after: timeout, self)
        }
        notify(.willExecute)
        let before = state.open()
        notify(.didExecute)
        if before.ending != nil {
            if before.contains(.told) { close(membership.take()) }
            return
        }
        work?(self)
        if state.leaveClosure().isOverrun {
            membership?.queue.closureReturned()
        }
    }

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

    // MARK: How it ends

    private func end(_ ending: AsyncOperationEnding) {
        guard let before = state.decide(ending) else { return }
        let callback = onTimeoutCallback.take()
        let overruns = ending != .finished && before.contains(.inClosure)
        if overruns {
            membership?.queue.closureOverruns()
        }
        onEnd?(self, ending)
        onEnd = nil
        if ending == .cancelled {
            // Foundation's own flag: it lets an operation that waits for others start, and so leave.
            super.cancel()
        }
        if state.tell() {
            // A closure that still runs needs it when it returns.
            close(overruns ? membership : membership.take())
        }
        if ending == .timedOut, let callback {
            OperationQueue.background.addOperation { callback(self) }
        }
    }

    /// The last step, taken exactly once: `isFinished` has become true, everybody who waits is told.
    private func close(_ membership: consuming Membership?) {
        deadline.take()?.cancel()
        notify(.finished)
        membership?.end(mayBlock: ending != .timedOut)
    }

    // MARK: The queue's side

    /// Called by the queue before it enqueues the operation.
    final func join(_ membership: Membership) {
        self.membership = membership
    }

    /// Called by a queue that does not take the operation: it ends here.
    final func turnAway() {
        cancel()
        start()
    }

    // MARK: Telling Foundation

    private enum Change {
        case willExecute, didExecute, finished
    }

    /// What `OperationQueue` needs to notice a change. On Apple's systems that is key-value observing of both
    /// properties; on Linux a queue listens to `isFinished` only, and every other call would be wasted.
    private func notify(_ change: Change) {
        #if canImport(ObjectiveC)
            switch change {
            case .willExecute: willChangeValue(forKey: "isExecuting")
            case .didExecute: didChangeValue(forKey: "isExecuting")
            case .finished:
                willChangeValue(forKey: "isExecuting")
                willChangeValue(forKey: "isFinished")
                didChangeValue(forKey: "isFinished")
                didChangeValue(forKey: "isExecuting")
            }
        #else
            if change == .finished {
                didChangeValue(forKey: "isFinished")
            }
        #endif
    }
}

extension AsyncOperation: DeadlineTarget {
    package final func deadlineReached() {
        end(.timedOut)
    }
}
