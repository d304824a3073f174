public import Foundation

/// An operation that is made of operations: it starts them when it starts and is finished when all of them are.
///
/// ```swift
/// let publish = GroupOperation(name: "publish", operations: [render, upload])  // with dependencies between them
/// publish.addOperation(notify)
/// queue.addOperation(publish)
/// ```
///
/// Its parts run in a queue of its own, so they take no place of the queue that the group is in; they have the group's
/// quality of service, unless they have one of their own. Parts may be of any kind; they may add further parts while the
/// group runs, by ``addOperation(_:)`` or, on the thread on which they are called, to `OperationQueue.current`, which is not
/// the group's queue in a task or in a callback. The group's errors are those of its parts, in the order in which they came.
///
/// Cancelling the group, its ``AsyncOperation/finish()`` or its timeout cancels its parts. A part of another kind cannot be
/// stopped while it runs: a group that was cancelled is finished when such parts are, or when its timeout has passed. A
/// timeout finishes it at once.
///
/// Unlike other operations a group has no timeout unless it is given one: its parts have theirs.
///
/// Unchecked because it may be subclassed; what changes is in a lock.
open class GroupOperation: AsyncOperation, @unchecked Sendable {
    enum Phase {
        case waiting, running, over
    }

    struct Part {
        let operation: Operation
        /// Which one it is, counted from the first that was added to the queue.
        let number: Int
        /// What the operation was added for: by a condition, to make itself hold, or as a part.
        let isHelper: Bool
        /// Keeps the group's categories taken while an operation of another kind runs.
        let hold: CategoryHold?
    }

    enum Suspension {
        case resumed, suspended, over
    }

    struct State: ~Copyable {
        var phase = Phase.waiting
        /// What was added before the group started.
        var waiting: [Operation] = []
        /// What is being added to the queue because the group starts.
        var starting: [Operation] = []
        /// What has been added to the queue and has not finished.
        var running: [ObjectIdentifier: Part] = [:]
        /// How many parts have been added to the queue.
        var count = 0
        /// How many reasons there are not to finish: unfinished parts, and what is still to be added.
        var open = 0
        var errors: [any Error] = []
        /// Whether the group has ended, and is finished when its parts are.
        var isClosing = false

        /// Whether parts have not finished, those included that the queue is about to take or turn away.
        var hasOpenParts: Bool {
            !running.isEmpty || !starting.isEmpty
        }

        /// True once, when the group has ended and its last part has finished.
        mutating func takeClosing() -> Bool {
            guard isClosing, !hasOpenParts else { return false }
            isClosing = false
            return true
        }
    }

    final let parts = Locked(State())
    final let suspension = Locked(Suspension.resumed)
    final let queue = PartQueue()

    /// Makes a group.
    ///
    /// - Parameters:
    ///   - name: What the group is called, for people and for the uniqueness policy.
    ///   - timeout: How long it may run, in seconds from its start; zero, negative and infinite values mean forever.
    ///   - onTimeoutCallback: Called once if it times out, on `OperationQueue.background`.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does when an operation of this name is already there.
    ///   - operations: Its first parts. They must not be in a queue.
    public init(
        name: String? = nil,
        timeout: TimeInterval = .infinity,
        onTimeoutCallback: (@Sendable (AsyncOperation) -> Void)? = nil,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        operations: [Operation] = []
    ) {
        super.init(
            name: name,
            timeout: timeout,
            onTimeoutCallback: onTimeoutCallback,
            uniquenessPolicy: uniquenessPolicy
        ) { ($0 as? GroupOperation)?.startParts() }
        // The queue that the group is in does, if it wants to.
        queue.holdsBackgroundTask = false
        queue.belong(to: self)
        addOperations(operations)
    }

    /// Makes a group, with its timeout as a `Duration`.
    public convenience init(
        name: String? = nil,
        timeout: Duration,
        onTimeoutCallback: (@Sendable (AsyncOperation) -> Void)? = nil,
        uniquenessPolicy: AsyncOperationUniquenessPolicy = .default,
        operations: [Operation] = []
    ) {
        self.init(
            name: name,
            timeout: timeout.timeInterval,
            onTimeoutCallback: onTimeoutCallback,
            uniquenessPolicy: uniquenessPolicy,
            operations: operations
        )
    }

    /// Makes a group of these parts.
    public convenience init(operations first: Operation, _ others: Operation...) {
        self.init(operations: [first] + others)
    }

    /// How many parts run at once; as many as there are threads for unless it is set.
    public final var maxConcurrentOperationCount: Int {
        get { queue.maxConcurrentOperationCount }
        set { queue.maxConcurrentOperationCount = newValue }
    }

    /// Adds a part. One that is added when the group has ended is cancelled, with
    /// ``OperationError/groupFinished`` if it is an ``AsyncOperation``.
    public final func addOperation(_ operation: Operation) {
        addOperations([operation])
    }

    /// Adds several parts. Those that are added when the group has ended are cancelled, with
    /// ``OperationError/groupFinished`` if they are ``AsyncOperation``s.
    public final func addOperations(_ operations: [Operation]) {
        let waits = parts.withLock { state in
            guard state.phase == .waiting else { return false }
            state.waiting += operations
            return true
        }
        guard waits else { return queue.addOperations(operations, waitUntilFinished: false) }
        for operation in operations { (operation as? AsyncOperation)?.state.enqueue() }
    }

    /// Called when a part has finished, before the group may be. A subclass may override it to add further parts, or to
    /// say which errors count.
    ///
    /// - Parameters:
    ///   - operation: The part.
    ///   - errors: Its errors.
    /// - Returns: The errors to be added to the group's.
    open func partDidFinish(_ operation: Operation, errors: [any Error]) -> [any Error] {
        errors
    }

    /// A group's work is its parts.
    @available(*, unavailable, message: "A group does its parts' work: override execute() and call super's.")
    public final override func execute() async throws {}

    // MARK: Parts

    /// The exclusive categories of the parts that it has before it starts, and of their parts.
    final var categoriesOfParts: Set<String> {
        parts.withLock { $0.waiting }.reduce(into: []) { categories, part in
            if let part = part as? AsyncOperation {
                categories.formUnion(part.attachments?.evaluation.categories ?? [])
            }
            if let part = part as? GroupOperation { categories.formUnion(part.categoriesOfParts) }
        }
    }

    /// The operations that have been added to its queue and have not finished.
    final var runningParts: [Operation] {
        parts.withLock { $0.running.values.map(\.operation) }
    }

    private func startParts() {
        let waiting: [Operation] = parts.withLock { state in
            guard state.phase == .waiting else { return [] }
            state.phase = .running
            state.open = 1
            state.starting = state.waiting
            state.waiting = []
            return state.starting
        }
        inheritQualityOfService()
        queue.addOperations(waiting, waitUntilFinished: false)
        let isLast = parts.withLock { state in
            state.starting = []
            return state.takeClosing()
        }
        if isLast { tellOwner() }
        settle()
    }

    /// Called when an operation is about to enter the queue. False if it is too late.
    final func takesIn(_ operation: Operation, isHelper: Bool) -> Bool {
        let hold = operation is AsyncOperation ? nil : attachments?.holdForParts
        let isTaken = parts.withLock { state in
            guard state.phase == .running else { return false }
            state.open += 1
            let part = Part(operation: operation, number: state.count, isHelper: isHelper, hold: hold)
            state.running[ObjectIdentifier(operation)] = part
            state.count += 1
            return true
        }
        guard isTaken else { return false }
        (operation as? AsyncOperation)?.enter(self)
        FinishWatcher.watch(operation) { self.partFinished(operation) }
        return true
    }

    private func partFinished(_ operation: Operation) {
        let isHelper = parts.withLock { $0.running[ObjectIdentifier(operation)]?.isHelper == true }
        let errors = isHelper ? [] : partDidFinish(operation, errors: (operation as? AsyncOperation)?.errors ?? [])
        if forget(operation, errors) { tellOwner() }
        settle()
    }

    /// Returns whether the group has ended and this was its last part.
    private func forget(_ operation: Operation, _ errors: [any Error]) -> Bool {
        // The part's hold is let go of outside the lock.
        let (part, isLast) = parts.withLock { state in
            state.errors += errors
            let part = state.running.removeValue(forKey: ObjectIdentifier(operation))
            return (part, state.takeClosing())
        }
        withExtendedLifetime(part) {}
        return isLast
    }

    /// Keeps the group from finishing until ``settle()`` is called once more. False if it has ended.
    final func stayOpen() -> Bool {
        parts.withLock { state in
            guard state.phase == .running else { return false }
            state.open += 1
            return true
        }
    }

    /// One reason less not to finish.
    final func settle() {
        let errors: [any Error]? = parts.withLock { state in
            state.open -= 1
            guard state.open == 0, state.phase == .running else { return nil }
            state.phase = .over
            return state.errors
        }
        if let errors { finish(withErrors: errors) }
    }

    // MARK: The end

    override final func endParts(_ ending: AsyncOperationEnding) {
        guard ending == .timedOut else { return cancelParts() }
        // What they do when they are cancelled is not ours: it must not hold up other deadlines.
        DispatchQueue.global().async { self.cancelParts() }
    }

    override final func waitsForParts(_ ending: AsyncOperationEnding) -> Bool {
        guard ending != .timedOut else { return false }
        return parts.withLock { state in
            state.isClosing = state.hasOpenParts
            return state.isClosing
        }
    }

    override final func timeIsOver() {
        let isClosing = parts.withLock { state in
            defer { state.isClosing = false }
            return state.isClosing
        }
        if isClosing { DispatchQueue.global().async { self.tellOwner() } }
    }

    /// The group has ended: its parts need not go on.
    private func cancelParts() {
        let (waiting, running) = parts.withLock { state in
            state.phase = .over
            defer { state.waiting = [] }
            return (state.waiting, state.running.values.map(\.operation))
        }
        CancellationSweep.cancel(running, of: queue)
        resumeForEnd()
        GroupOperation.turnAway(waiting)
    }

    /// Ends operations that no queue will take, so that nothing that depends on them waits forever.
    static func turnAway(_ operations: [Operation]) {
        for operation in operations {
            if let operation = operation as? AsyncOperation {
                operation.cancel(with: OperationError.groupFinished)
            } else {
                operation.cancel()
            }
            operation.start()
        }
    }
}
