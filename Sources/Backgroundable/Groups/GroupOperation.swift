public import Foundation

/// An operation that consists of other operations: it starts them when it starts, and finishes when all of them have
/// finished.
///
/// ```swift
/// let publish = GroupOperation(name: "publish", operations: [render, upload])  // with dependencies between them
/// publish.addOperation(notify)
/// queue.addOperation(publish)
/// ```
///
/// The parts run in the group's own queue, so they take no places of the queue that the group is in. They have the
/// group's quality of service, unless they set their own. Parts may be of any class. While the group runs, they may add
/// further parts with ``addOperation(_:)``, or to `OperationQueue.current` on the thread on which they are called; in a
/// task or a callback that is not the group's queue. The errors of the group are those of its parts, in the order in
/// which they occurred.
///
/// Cancelling the group, calling its ``AsyncOperation/finish()``, or its timeout cancels its parts. A running part of
/// another class cannot be stopped: a cancelled group finishes when such parts have finished, or when its timeout has
/// passed. A timeout finishes the group immediately.
///
/// By default a group has no timeout, because its parts have theirs.
///
/// Unchecked because the class is open. All mutable state is locked.
open class GroupOperation: AsyncOperation, @unchecked Sendable {
    enum Phase {
        case waiting, running, over
    }

    struct Part {
        let operation: Operation
        /// The number of the part, in the order in which parts were added to the queue.
        let number: Int
        /// Whether a condition added the operation as its dependency, rather than as a part.
        let isHelper: Bool
        /// Holds the group's exclusive categories while an operation of another class runs.
        let hold: CategoryHold?
    }

    enum Suspension {
        case resumed, suspended, over
    }

    struct State: ~Copyable {
        var phase = Phase.waiting
        /// Parts that were added before the group started.
        var waiting: [Operation] = []
        /// Parts that are being added to the queue because the group starts.
        var starting: [Operation] = []
        /// Operations that have been added to the queue and have not finished.
        var running: [ObjectIdentifier: Part] = [:]
        /// The number of operations that have been added to the queue.
        var count = 0
        /// The number of reasons not to finish: unfinished parts, and additions in progress.
        var open = 0
        var errors: [any Error] = []
        /// Whether the group has ended and finishes when its parts have.
        var isClosing = false

        /// Whether parts have not finished. Includes parts that the queue is about to accept or reject.
        var hasOpenParts: Bool {
            !running.isEmpty || !starting.isEmpty
        }

        /// Returns true once, when the group has ended and its last part has finished.
        mutating func takeClosing() -> Bool {
            guard isClosing, !hasOpenParts else { return false }
            isClosing = false
            return true
        }
    }

    final let parts = Locked(State())
    final let suspension = Locked(Suspension.resumed)
    final let queue = PartQueue()

    /// Creates a group.
    ///
    /// - Parameters:
    ///   - name: The name of the group, for log texts and the uniqueness policy.
    ///   - timeout: How long the group may run from its start, in seconds. Zero, negative and infinite values mean no
    ///     limit.
    ///   - onTimeoutCallback: Called once on `OperationQueue.background` if the group times out.
    ///   - uniquenessPolicy: What a ``BackgroundQueue`` does if it already has an operation of this name.
    ///   - operations: The first parts. They must not be in a queue.
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
        // The queue that the group is in holds a background task, if enabled.
        queue.holdsBackgroundTask = false
        queue.belong(to: self)
        addOperations(operations)
    }

    /// Creates a group, with its timeout as a `Duration`.
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

    /// Creates a group of these parts.
    public convenience init(operations first: Operation, _ others: Operation...) {
        self.init(operations: [first] + others)
    }

    /// The maximum number of parts that run at the same time. By default the system chooses it.
    public final var maxConcurrentOperationCount: Int {
        get { queue.maxConcurrentOperationCount }
        set { queue.maxConcurrentOperationCount = newValue }
    }

    /// Adds a part. If the group has ended, the part is cancelled, an ``AsyncOperation`` with
    /// ``OperationError/groupFinished``.
    public final func addOperation(_ operation: Operation) {
        addOperations([operation])
    }

    /// Adds several parts. If the group has ended, they are cancelled, each ``AsyncOperation`` with
    /// ``OperationError/groupFinished``.
    public final func addOperations(_ operations: [Operation]) {
        let waits = parts.withLock { state in
            guard state.phase == .waiting else { return false }
            state.waiting += operations
            return true
        }
        guard waits else { return queue.addOperations(operations, waitUntilFinished: false) }
        for operation in operations { (operation as? AsyncOperation)?.state.enqueue() }
    }

    /// Called when a part has finished, before the group can finish. A subclass may override it to add further parts or
    /// to filter the errors. The default implementation returns `errors`.
    ///
    /// - Parameters:
    ///   - operation: The part.
    ///   - errors: The errors of the part.
    /// - Returns: The errors to add to those of the group.
    open func partDidFinish(_ operation: Operation, errors: [any Error]) -> [any Error] {
        errors
    }

    /// Unavailable: the work of a group is its parts.
    @available(*, unavailable, message: "A group does its parts' work: override execute() and call super's.")
    public final override func execute() async throws {}

    // MARK: Parts

    /// The exclusive categories of the parts that were added before the start, including those of nested groups.
    final var categoriesOfParts: Set<String> {
        parts.withLock { $0.waiting }.reduce(into: []) { categories, part in
            if let part = part as? AsyncOperation {
                categories.formUnion(part.attachments?.evaluation.categories ?? [])
            }
            if let part = part as? GroupOperation { categories.formUnion(part.categoriesOfParts) }
        }
    }

    /// The operations that have been added to the group's queue and have not finished.
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
        if isLast { reportEnd() }
        settle()
    }

    /// Registers an operation that is about to enter the queue. Returns false if the group does not run.
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
        if forget(operation, errors) { reportEnd() }
        settle()
    }

    /// Removes a finished operation. Returns whether the group has ended and this was its last part.
    private func forget(_ operation: Operation, _ errors: [any Error]) -> Bool {
        // The hold is released outside the lock.
        let (part, isLast) = parts.withLock { state in
            state.errors += errors
            let part = state.running.removeValue(forKey: ObjectIdentifier(operation))
            return (part, state.takeClosing())
        }
        withExtendedLifetime(part) {}
        return isLast
    }

    /// Keeps the group from finishing until ``settle()`` is called once more. Returns false if the group does not run.
    final func stayOpen() -> Bool {
        parts.withLock { state in
            guard state.phase == .running else { return false }
            state.open += 1
            return true
        }
    }

    /// Removes one reason not to finish, and finishes the group if that was the last.
    final func settle() {
        let errors: [any Error]? = parts.withLock { state in
            state.open -= 1
            guard state.open == 0, state.phase == .running else { return nil }
            state.phase = .over
            return state.errors
        }
        if let errors { finish(withErrors: errors) }
    }

    // MARK: Ending

    override final func endParts(_ ending: AsyncOperationEnding) {
        guard ending == .timedOut else { return cancelParts() }
        // Cancelling parts runs user code, which must not delay other deadlines.
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
        if isClosing { DispatchQueue.global().async { self.reportEnd() } }
    }

    /// Cancels the parts of a group that has ended.
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

    /// Ends operations that no queue accepts, so that their dependents do not wait forever.
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
