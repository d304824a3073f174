public import Foundation
import Synchronization

/// An operation queue that knows when it works and when it is empty, and that can tell operations apart by name.
///
/// Every operation and every block counts, however it was added. An ``AsyncOperation`` that has a name and a
/// ``AsyncOperationUniquenessPolicy`` is compared with the operations of that name before it is added; comparing and
/// adding are one step, however many threads add at once, and cost the same however many operations wait.
///
/// ```swift
/// let queue = BackgroundQueue()
/// queue.addAsyncOperation(name: "refresh", uniquenessPolicy: .drop) { operation in
///     load { operation.finish() }
/// }
/// ```
///
/// An operation must keep its name while it is in the queue: under another one it would not be found.
///
/// Unchecked because `OperationQueue` is a class that others may subclass; everything that changes here is in a lock or
/// atomic.
open class BackgroundQueue: OperationQueue, @unchecked Sendable {
    /// Numbers the calls that add several operations.
    private static let calls = Atomic<UInt64>(0)

    private let rolls = ShardedOperationIndex()
    private let memberCount = Atomic<Int>(0)
    private let news = Locked(QueueObservers())
    private let suspension = Locked(Suspension())
    private let overruns = Atomic<Int>(0)

    /// Is told when the queue begins to work and when it is empty again.
    public weak final var delegate: (any BackgroundQueueDelegate)? {
        get { news.withLock { $0.delegate } }
        set { news.withLock { $0.delegate = newValue } }
    }

    /// Whether the process stays until the queue is empty when it is asked to leave (see ``BackgroundTasks``): true
    /// unless set. If time is nearly up and the queue is still busy, its operations are cancelled.
    public final var holdsBackgroundTask: Bool {
        get { news.withLock { $0.holdsBackgroundTask } }
        set { news.withLock { $0.holdBackgroundTask(newValue, for: self) } }
    }

    /// How many closures of this queue's operations still run although their operation timed out or was cancelled.
    ///
    /// Their operations have left the queue and others run in their place, so this many threads are busy in excess of
    /// `maxConcurrentOperationCount`.
    public final var overrunCount: Int {
        max(0, overruns.load(ordering: .relaxed))
    }

    /// Whether the queue starts no operations. Suspending counts: what was suspended twice must be resumed twice.
    open override var isSuspended: Bool {
        get { suspension.withLock { $0.depth > 0 } }
        set { changeSuspension { $0.depth = max(0, $0.depth + (newValue ? 1 : -1)) } }
    }

    /// Keeps operations from starting, without being seen as suspended, until it is called with false as often as with true.
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

    /// Cancels every operation that is in the queue. Of those that had not started none does, whatever waits for what. They
    /// leave a suspended queue when that is resumed.
    open override func cancelAllOperations() {
        CancellationSweep.cancel(members, of: self)
    }

    /// The queue's background task expires: cancels every operation, and has them leave even if the queue is suspended.
    final func expire() {
        cancelAllOperations()
        changeSuspension { $0.isOver = true }
    }

    /// The operations that are in the queue. One that is just being added, and may be evaluating its conditions, is among them
    /// before Foundation lists it.
    final var members: [Operation] {
        let listed = operations
        let known = Set(listed.map(ObjectIdentifier.init))
        var enrolled: [Operation] = []
        rolls.withAllLocked { enrolled += $0.operations }
        return listed + enrolled.filter { !known.contains(ObjectIdentifier($0)) && !$0.isFinished }
    }

    // MARK: Progress

    #if canImport(ObjectiveC)
        /// Foundation counts every kind of operation there.
        final func beginProgress(of operation: AsyncOperation) -> OperationProgress? { nil }

        final func endProgress(of operation: AsyncOperation, hasRun: Bool) {}
    #else
        private let ownProgress = Locked<QueueProgress?>(nil)

        /// Counts the operations that have run, one unit each, from when its `totalUnitCount` is set. Operations that are
        /// cancelled before they start do not count, nor do barriers, nor operations of other kinds that override `start()`.
        ///
        /// Its fraction includes how far running operations are whose code makes a `Progress(totalUnitCount:)`, as of the
        /// last look at this property.
        open override var progress: Progress {
            let made = ownProgress.withLock { progress in
                let made = progress ?? QueueProgress(of: self)
                progress = made
                return made
            }
            if made.isCounting { made.refresh() }
            return made
        }

        /// The progress of an operation that begins now, if it is counted.
        final func beginProgress(of operation: AsyncOperation) -> OperationProgress? {
            guard QueueProgress.mayCount, let progress = ownProgress.withLock({ $0 }), progress.isCounting else {
                return nil
            }
            let own = OperationProgress()
            progress.begin(ObjectIdentifier(operation), RunningShare(own))
            return own
        }

        /// An operation that is counted has ended.
        final func endProgress(of operation: AsyncOperation, hasRun: Bool) {
            ownProgress.withLock { $0 }?.end(ObjectIdentifier(operation), hasRun: hasRun)
        }

        /// Has Foundation report the operations that it runs by itself to ``progress``.
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
    /// The block is an operation like any other and counts as one. (Foundation's own barriers on Linux wait forever
    /// when a cancelled operation is added while one is pending.)
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

    /// A barrier has run: what is added now need not wait for it.
    final func lift(_ barrier: BarrierBlock) {
        rolls.withAllLocked { roll in
            if roll.barrier === barrier { roll.barrier = nil }
        }
    }

    /// Adds an operation that does not wait for a barrier, because what the barrier waits for may wait for it.
    final func addBeforeBarrier(_ operation: Operation) {
        if admit(operation, passesBarrier: true) {
            enqueue(operation)
        }
    }

    final func addInLine(_ operations: [Operation], waitUntilFinished wait: Bool) {
        enqueue(admit(operations).linedUp(), waitUntilFinished: wait)
    }

    /// Hands an operation to Foundation's queue. (An ``AsyncOperation`` reminds the queue by itself.)
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

    /// Has `wait` resumed when the queue is empty the next time; at once if it is empty now.
    final func resumeWhenEmpty(_ wait: PendingWait) {
        // One who comes and one who goes may have arrived at the news in the other order: then the count knows better.
        let isWaiting = news.withLock { $0.enlist(wait, isOccupied: memberCount.load(ordering: .acquiring) > 0) }
        if !isWaiting { wait.resume(true) }
    }

    // MARK: Members

    /// Applies the uniqueness policies of one call. Returns what is to be enqueued.
    private func admit(_ operations: [Operation]) -> [Operation] {
        guard operations.count > 1 else { return operations.filter { admit($0) } }
        let call = BackgroundQueue.calls.add(1, ordering: .relaxed).newValue
        return operations.filter { admit($0, call: call) }
    }

    /// Applies the operation's uniqueness policy and, unless that drops it, counts it in. Returns whether to enqueue
    /// it.
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

    /// Whether the operation may enter. One that may not has been ended by this.
    ///
    /// - Parameter isHelper: Whether it was added by another one's condition, to make itself hold.
    func takesIn(_ operation: Operation, isHelper: Bool) -> Bool {
        true
    }

    /// Sees to it that the queue learns when an operation of another kind leaves.
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

    /// A member has finished and left.
    final func leave(part: Int, seat: Int, mayBlock: Bool) {
        // The last reference may go here, and with it whatever the operation holds: not under the roll's lock.
        let operation = rolls.withLock(part: part) { $0.leave(seat) }
        withExtendedLifetime(operation) {}
        if memberCount.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 {
            membersChanged(mayBlock: mayBlock)
        }
    }

    // MARK: News

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
