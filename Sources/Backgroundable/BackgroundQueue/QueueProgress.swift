#if !canImport(ObjectiveC)
    import Foundation
    import Synchronization

    /// The progress of a background queue: one unit for each operation that has run, of any class.
    ///
    /// On Linux, Foundation's queue counts only operations without their own `start()`, and corrupts its progress when
    /// two of them change theirs at the same time. Therefore the progress of operations is not added as children here.
    /// Each operation counts when it has run; the fractions of running operations are read whenever the queue's
    /// progress is read.
    ///
    /// Unchecked because `Progress` is an open class. The counts change only under a lock.
    final class QueueProgress: Progress, @unchecked Sendable {
        private struct State: ~Copyable {
            /// The running operations by their identity.
            var running: [ObjectIdentifier: RunningShare] = [:]
        }

        /// Whether any queue has ever counted. Until then, operations skip the counting.
        private static let isUsed = Atomic<Bool>(false)

        private let state = Locked(State())
        private let counts = Atomic<Bool>(false)
        private weak let queue: BackgroundQueue?

        init(of queue: BackgroundQueue) {
            self.queue = queue
            super.init(parent: nil, userInfo: nil)
        }

        /// Whether any queue may count: a total has been set on at least one queue.
        static var mayCount: Bool {
            isUsed.load(ordering: .relaxed)
        }

        /// Whether operations that begin now are counted: a total has been set on this queue.
        var isCounting: Bool {
            counts.load(ordering: .relaxed)
        }

        // MARK: Operations

        /// Notes that an operation begins.
        func begin(_ key: ObjectIdentifier, _ share: RunningShare) {
            state.withLock { $0.running[key] = share }
        }

        /// Notes that an operation has ended.
        ///
        /// - Parameter hasRun: Whether the operation ran and therefore counts.
        func end(_ key: ObjectIdentifier, hasRun: Bool) {
            // The share is released outside the lock.
            let share = state.withLock { state in
                let share = state.running.removeValue(forKey: key)
                if hasRun, share?.complete() != true { super.completedUnitCount += 1 }
                return share
            }
            withExtendedLifetime(share) {}
        }

        /// Updates the fractions of the running operations.
        func refresh() {
            let running = state.withLock { $0.running }
            // Outside the lock: releasing the last reference to a progress of Foundation calls `end`.
            let fractions = running.mapValues(\.fraction).filter { $0.value > 0 }
            state.withLock { state in
                guard super.totalUnitCount > 0 else { return }
                for (key, fraction) in fractions {
                    guard let share = state.running[key], share === running[key] else { continue }
                    if let mirror = share.advance(to: fraction) { super.addChild(mirror, withPendingUnitCount: 1) }
                }
            }
        }

        // MARK: Overrides

        override var totalUnitCount: Int64 {
            get { state.withLock { _ in super.totalUnitCount } }
            set {
                state.withLock { _ in super.totalUnitCount = newValue }
                QueueProgress.isUsed.store(true, ordering: .relaxed)
                counts.store(true, ordering: .relaxed)
                queue?.countInFoundation()
            }
        }

        override var completedUnitCount: Int64 {
            get {
                refresh()
                return state.withLock { _ in super.completedUnitCount }
            }
            set { state.withLock { _ in super.completedUnitCount = newValue } }
        }

        override func addChild(_ child: Progress, withPendingUnitCount count: Int64) {
            guard isOfFoundation(child, count) else {
                return state.withLock { _ in super.addChild(child, withPendingUnitCount: count) }
            }
            begin(ObjectIdentifier(child), RunningShare(ofFoundation: child))
            child.setUserInfoObject(Counted(self, ObjectIdentifier(child)), forKey: Counted.key)
        }

        /// Whether the child is the progress of an operation that Foundation's queue is about to run. Foundation makes
        /// that current only afterwards, whereas code that an operation runs already has a current progress.
        private func isOfFoundation(_ child: Progress, _ count: Int64) -> Bool {
            count == 1 && child.totalUnitCount == 1 && child.completedUnitCount == 0
                && OperationQueue.current === queue && Progress.current() == nil
        }
    }

    /// Counts an operation when Foundation releases its progress, which is when the operation has run.
    private final class Counted: Sendable {
        static let key = ProgressUserInfoKey(rawValue: "counted")

        private let progress: QueueProgress
        private let operation: ObjectIdentifier

        init(_ progress: QueueProgress, _ operation: ObjectIdentifier) {
            self.progress = progress
            self.operation = operation
        }

        deinit {
            progress.end(operation, hasRun: true)
        }
    }
#endif
