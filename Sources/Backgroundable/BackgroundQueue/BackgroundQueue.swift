public import Foundation
import Synchronization

/// An operation queue that reports when it is busy or empty and applies uniqueness policies by name.
///
/// Every operation and every block counts, however it was added. Before an ``AsyncOperation`` with a name is
/// added, its ``AsyncOperationUniquenessPolicy`` is applied to the operations of that name. The comparison and the
/// addition are one atomic step, and their cost does not depend on the number of waiting operations.
///
/// ```swift
/// let queue = BackgroundQueue()
/// queue.addAsyncOperation(name: "refresh", uniquenessPolicy: .drop) { operation in
///     load { operation.finish() }
/// }
/// ```
///
/// An operation must keep its name while it is in the queue, because the queue finds it by that name.
///
/// Unchecked because `OperationQueue` is an open class. All mutable state here is locked or atomic.
open class BackgroundQueue: OperationQueue, @unchecked Sendable {
    /// Numbers the calls that add several operations.
    private static let calls = Atomic<UInt64>(0)

    private let rolls = ShardedOperationIndex()
    private let memberCount = Atomic<Int>(0)
    private let news = Locked(QueueObservers())
    private let suspension = Locked(Suspension())
    private let overruns = Atomic<Int>(0)

    /// The delegate, which is notified when the queue becomes busy and when it is empty again.
    public weak final var delegate: (any BackgroundQueueDelegate)? {
        get { news.withLock { $0.delegate } }
        set { news.withLock { $0.delegate = newValue } }
    }

    /// Whether the process stays alive until the queue is empty after it was asked to terminate (see
    /// ``BackgroundTasks``): true by default. If the queue is still busy shortly before the process must exit, its
    /// operations are cancelled.
    public final var holdsBackgroundTask: Bool {
        get { news.withLock { $0.holdsBackgroundTask } }
        set { news.withLock { $0.holdBackgroundTask(newValue, for: self) } }
    }

    /// The number of closures that still run although their operation was cancelled or timed out.
    ///
    /// Their operations have left the queue and others run in their place. The queue therefore occupies this many
    /// threads beyond `maxConcurrentOperationCount`.
    public final var overrunCount: Int {
        max(0, overruns.load(ordering: .relaxed))
    }

    /// Whether the queue is suspended and starts no operations. Suspensions are counted: a queue that was suspended
    /// twice must be resumed twice.
    open override var isSuspended: Bool {
        get { suspension.withLock { $0.depth > 0 } }
        set { changeSuspension { $0.depth = max(0, $0.depth + (newValue ? 1 : -1)) } }
    }

    /// Keeps operations from starting without changing `isSuspended`. Each call with true needs a later call with
    /// false.
    final func holdStarts(_ isHeld: Bool) {
        changeSuspension { $0.holds += isHeld ? 1 : -1 }
    }

    private func changeSuspension(_ change: (inout Suspension) -> Void) {
        suspension.withLock { suspension in
            change(&suspension)
            super.isSuspended = suspension.isInEffect
        }
    }

    // MARK: Cancelling

    /// Cancels every operation in the queue. No operation that has not started runs its closure, whatever it depends
    /// on. In a suspended queue, the cancelled operations leave when the queue is resumed.
    open override func cancelAllOperations() {
        CancellationSweep.cancel(members, of: self)
    }

    /// Cancels every operation when the queue's background task expires, and lets them leave even if the queue is
    /// suspended.
    final func expire() {
        cancelAllOperations()
        changeSuspension { $0.isOver = true }
    }

    /// The operations in the queue. Includes those that are being added, and may be evaluating their conditions, before
    /// Foundation lists them.
    final var members: [Operation] {
        let listed = operations
        let known = Set(listed.map(ObjectIdentifier.init))
        var enrolled: [Operation] = []
        rolls.withAllLocked { enrolled += $0.operations }
        return listed + enrolled.filter { !known.contains(ObjectIdentifier($0)) && !$0.isFinished }
    }

    // MARK: Progress

    #if canImport(ObjectiveC)
        /// Foundation counts every kind of operation on Apple's platforms.
        final func beginProgress(of operation: AsyncOperation) -> OperationProgress? { nil }

        final func endProgress(of operation: AsyncOperation, hasRun: Bool) {}
    #else
        private let ownProgress = Locked<QueueProgress?>(nil)

        /// Counts the operations that have run, one unit each, from the moment when `totalUnitCount` is set. It does
        /// not count operations that are cancelled before they start, barriers, or operations of other classes that
        /// override `start()`.
        ///
        /// `fractionCompleted` includes the progress of running operations whose code creates a
        /// `Progress(totalUnitCount:)`, as of the last read of this property.
        open override var progress: Progress {
            let made = ownProgress.withLock { progress in
                let made = progress ?? QueueProgress(of: self)
                progress = made
                return made
            }
            if made.isCounting { made.refresh() }
            return made
        }

        /// Returns the progress of an operation that begins now, or nil if it is not counted.
        final func beginProgress(of operation: AsyncOperation) -> OperationProgress? {
            guard QueueProgress.mayCount, let progress = ownProgress.withLock({ $0 }), progress.isCounting else {
                return nil
            }
            let own = OperationProgress()
            progress.begin(ObjectIdentifier(operation), RunningShare(own))
            return own
        }

        /// Ends the progress of a counted operation.
        final func endProgress(of operation: AsyncOperation, hasRun: Bool) {
            ownProgress.withLock { $0 }?.end(ObjectIdentifier(operation), hasRun: hasRun)
        }

        /// Makes Foundation report the operations that it runs itself to ``progress``.
        final func countInFoundation() {
            super.progress.totalUnitCount = 1
        }
    #endif

    // MARK: Adding

    open override func addOperation(_ operation: Operation) {
        if admit(operation) {
            enqueue(operation)
        }
    }

    open override func addOperations(_ operations: [Operation], waitUntilFinished wait: Bool) {
        enqueue(admit(operations), waitUntilFinished: wait)
    }

    open override func addOperation(_ block: @escaping @Sendable () -> Void) {
        let operation = QueueBlock(block: block)
        if qualityOfService != .default {
            operation.qualityOfService = qualityOfService
        }
        addOperation(operation)
    }

    /// Runs a block after everything that was added before has finished, and before anything that is added later
    /// begins.
    ///
    /// The block is an operation and counts as one. (Foundation's own barriers on Linux wait forever if a cancelled
    /// operation is added while a barrier is pending.)
    open override func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) {
        let operation = BarrierBlock(block: barrier)
        var earlier: [Operation] = []
        var pending: Operation?
        rolls.withAllLocked { roll in
            earlier += roll.operations
            pending = roll.barrier
            roll.barrier = operation
        }
        if let pending { operation.addDependency(pending) }
        for earlier in earlier { operation.addDependency(earlier) }
        if admit(operation) {
            enqueue(operation)
        } else {
            lift(operation)
        }
    }

    /// Removes a barrier that has run, so that operations added later do not wait for it.
    final func lift(_ barrier: BarrierBlock) {
        rolls.withAllLocked { roll in
            if roll.barrier === barrier { roll.barrier = nil }
        }
    }

    /// Adds an operation that does not wait for the pending barrier, because operations before the barrier may wait for
    /// it.
    final func addBeforeBarrier(_ operation: Operation) {
        if admit(operation, passesBarrier: true) {
            enqueue(operation)
        }
    }

    final func addInLine(_ operations: [Operation], waitUntilFinished wait: Bool) {
        enqueue(admit(operations).linedUp(), waitUntilFinished: wait)
    }

    /// Adds an operation to Foundation's queue. An ``AsyncOperation`` repeats its readiness notification itself.
    private func enqueue(_ operation: Operation) {
        super.addOperation(operation)
        if !(operation is AsyncOperation) { operation.remindQueue() }
    }

    private func enqueue(_ operations: [Operation], waitUntilFinished wait: Bool) {
        super.addOperations(operations, waitUntilFinished: false)
        for operation in operations where !(operation is AsyncOperation) { operation.remindQueue() }
        guard wait else { return }
        for operation in operations { operation.waitUntilFinished() }
    }

    // MARK: Waiting

    /// Resumes `wait` when the queue is next empty, or immediately if it is empty now.
    final func resumeWhenEmpty(_ wait: PendingWait) {
        // Two threads may report their changes in the reverse order, so the member count decides.
        let isWaiting = news.withLock { $0.enlist(wait, isOccupied: memberCount.load(ordering: .acquiring) > 0) }
        if !isWaiting { wait.resume(true) }
    }

    // MARK: Members

    /// Applies the uniqueness policies of one call. Returns the operations to enqueue.
    private func admit(_ operations: [Operation]) -> [Operation] {
        guard operations.count > 1 else { return operations.filter { admit($0) } }
        let call = BackgroundQueue.calls.add(1, ordering: .relaxed).newValue
        return operations.filter { admit($0, call: call) }
    }

    /// Applies the operation's uniqueness policy and registers the operation, unless the policy drops it. Returns
    /// whether to enqueue it.
    private func admit(_ operation: Operation, call: UInt64 = 0, passesBarrier: Bool = false) -> Bool {
        guard takesIn(operation, isHelper: passesBarrier) else { return false }
        let key = operation.name.map(NameKey.init)
        let asyncOperation = operation as? AsyncOperation
        let policy = asyncOperation?.uniquenessPolicy ?? .ignore
        let part = ShardedOperationIndex.part(for: operation, key: key)
        let admission = rolls.withLock(part: part) { $0.admit(operation, key: key, policy: policy, call: call) }
        guard let seat = admission.seat else {
            asyncOperation?.turnAway()
            return false
        }
        if memberCount.add(1, ordering: .acquiringAndReleasing).oldValue == 0 {
            membersChanged(mayBlock: true)
        }
        let membership = QueueRegistration(queue: self, part: part, seat: seat)
        if let asyncOperation {
            asyncOperation.join(membership)
        } else {
            enlist(operation, membership)
        }
        if let barrier = admission.barrier, !passesBarrier, !(operation is BarrierBlock) {
            operation.addDependency(barrier)
        }
        if !admission.displaced.isEmpty { CancellationSweep.cancel(admission.displaced, of: self) }
        return true
    }

    /// Returns whether the queue accepts the operation. An operation that is not accepted has been ended by this call.
    ///
    /// - Parameter isHelper: Whether the condition of another operation adds it as its dependency.
    func takesIn(_ operation: Operation, isHelper: Bool) -> Bool {
        true
    }

    /// Makes sure that the queue notices when an operation of another class leaves.
    private func enlist(_ operation: Operation, _ membership: QueueRegistration) {
        if let operation = operation as? QueueBlock {
            operation.join(membership)
        } else {
            QueuedOperations.shared.insert(operation)
            FinishWatcher.watch(operation) {
                QueuedOperations.shared.remove(operation)
                operation.forgetDependenciesIfCancelled()
                membership.end(mayBlock: true)
            }
        }
    }

    /// Removes an operation that has finished.
    final func leave(part: Int, seat: Int, mayBlock: Bool) {
        // Deallocating the operation may run user code, so that happens outside the lock.
        let operation = rolls.withLock(part: part) { $0.leave(seat) }
        withExtendedLifetime(operation) {}
        if memberCount.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
            membersChanged(mayBlock: mayBlock)
        }
    }

    // MARK: Notifications

    private func membersChanged(mayBlock: Bool) {
        let (waiting, mustDeliver) = news.withLock { news in
            let mustDeliver = news.change(of: self)
            return (news.takeWaiting(), mustDeliver)
        }
        for wait in waiting { wait.resume(true) }
        guard mustDeliver else { return }
        if mayBlock {
            deliverNews()
        } else {
            DispatchQueue.global().async { self.deliverNews() }
        }
    }

    private func deliverNews() {
        while let (item, delegate) = news.withLock({ news in news.next().map { ($0, news.delegate) } }) {
            switch item {
            case .willStart: delegate?.backgroundQueueWillStartOperations(self)
            case .didFinish: delegate?.backgroundQueueDidFinishOperations(self)
            }
        }
    }

    // MARK: Overruns

    final func closureOverruns() {
        overruns.add(1, ordering: .relaxed)
    }

    final func closureReturned() {
        overruns.subtract(1, ordering: .relaxed)
    }
}
