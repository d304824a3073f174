public import Foundation

/// An operation that is made of operations: it starts them when it starts and is finished when all of them are.
///
/// ```swift
/// let publish = GroupOperation(name: "publish", operations: [render, upload])  // with dependencies between them
/// publish.addOperation(notify)
/// queue.addOperation(publish)
/// ```
///
/// Its parts run in a queue of its own, so they take no place of the queue that the group is in. Parts may be of any
/// kind; they may add further parts while the group runs. The group's errors are those of its parts, in the order in which
/// they came. Cancelling the group, or its timeout, cancels its parts.
///
/// Unlike other operations a group has no timeout unless it is given one: its parts have theirs.
///
/// Unchecked because it may be subclassed; what changes is in a lock.
open class GroupOperation: AsyncOperation, @unchecked Sendable {
    private enum Phase {
        case waiting, running, over
    }

    private struct State: ~Copyable {
        var phase = Phase.waiting
        /// What was added before the group started.
        var waiting: [Operation] = []
        /// What has been added to the queue and has not finished.
        var running: [ObjectIdentifier: Operation] = [:]
        /// How many reasons there are not to finish: unfinished parts, and what is still to be added.
        var open = 0
        var errors: [any Error] = []
    }

    private let parts = Locked(State())
    final let queue = BackgroundQueue()

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
        addObserver(GroupObserver())
        addOperations(operations)
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
        let phase = parts.withLock { state in
            switch state.phase {
            case .waiting: state.waiting += operations
            case .running: state.open += operations.count
            case .over: break
            }
            return state.phase
        }
        switch phase {
        case .waiting: break
        case .running: enqueue(operations)
        case .over: GroupOperation.turnAway(operations)
        }
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

    /// The parts that have been added to its queue and have not finished.
    final var runningParts: [Operation] {
        parts.withLock { Array($0.running.values) }
    }

    private func startParts() {
        let waiting: [Operation] = parts.withLock { state in
            guard state.phase == .waiting else { return [] }
            state.phase = .running
            state.open = state.waiting.count + 1
            defer { state.waiting = [] }
            return state.waiting
        }
        enqueue(waiting)
        settle()
    }

    private func enqueue(_ operations: [Operation]) {
        for part in operations {
            parts.withLock { $0.running[ObjectIdentifier(part)] = part }
            if let part = part as? AsyncOperation {
                part.attach().0.state.withLock { $0.parent = self }
            }
            FinishWatcher.watch(part) { self.partFinished(part) }
        }
        queue.addOperations(operations, waitUntilFinished: false)
        // It may have ended while they were being added.
        if ending != nil { cancelParts() }
    }

    private func partFinished(_ part: Operation) {
        let errors = partDidFinish(part, errors: (part as? AsyncOperation)?.errors ?? [])
        parts.withLock { state in
            state.running[ObjectIdentifier(part)] = nil
            state.errors += errors
        }
        settle()
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

    /// The group has ended: its parts need not go on.
    fileprivate func cancelParts() {
        let (waiting, running) = parts.withLock { state in
            state.phase = .over
            defer { state.waiting = [] }
            return (state.waiting, Array(state.running.values))
        }
        CancellationSweep.cancel(running, of: queue)
        GroupOperation.turnAway(waiting)
    }

    /// Ends operations that no queue will take, so that nothing that depends on them waits forever.
    private static func turnAway(_ operations: [Operation]) {
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

/// Ends a group's parts with it.
private struct GroupObserver: OperationObserver {
    func didFinish(_ operation: AsyncOperation, errors: [any Error]) {
        (operation as? GroupOperation)?.cancelParts()
    }

    func didCancel(_ operation: AsyncOperation) {
        (operation as? GroupOperation)?.cancelParts()
    }
}
