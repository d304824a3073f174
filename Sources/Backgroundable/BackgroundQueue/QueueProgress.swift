#if !canImport(ObjectiveC)
    import Foundation
    import Synchronization

    /// The progress of a background queue: a unit for each operation that has run, of any kind.
    ///
    /// On Linux Foundation's queue counts only the operations that leave `start()` to it, and breaks its own progress when two of
    /// them begin or end at once. So its children, one for each operation, are not added here; each counts when it is let go of.
    ///
    /// Unchecked because `Progress` is a class that others may subclass; the counts change under a lock only.
    final class QueueProgress: Progress, @unchecked Sendable {
        /// Whether any queue has ever been asked to count: the others pay nothing.
        private static let isUsed = Atomic<Bool>(false)

        private let lock = Locked(())
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

        /// Counts an operation that has run.
        func count() {
            lock.withLock { _ in super.completedUnitCount += 1 }
        }

        override var totalUnitCount: Int64 {
            get { lock.withLock { _ in super.totalUnitCount } }
            set {
                lock.withLock { _ in super.totalUnitCount = newValue }
                QueueProgress.isUsed.store(true, ordering: .relaxed)
                counts.store(true, ordering: .relaxed)
                queue?.countInFoundation()
            }
        }

        override var completedUnitCount: Int64 {
            get { lock.withLock { _ in super.completedUnitCount } }
            set { lock.withLock { _ in super.completedUnitCount = newValue } }
        }

        override func addChild(_ child: Progress, withPendingUnitCount count: Int64) {
            let isOperation = count == 1 && child.totalUnitCount == 1 && OperationQueue.current === queue
            guard isOperation else { return lock.withLock { _ in super.addChild(child, withPendingUnitCount: count) } }
            child.setUserInfoObject(Counted(self), forKey: Counted.key)
        }
    }

    /// Counts an operation when Foundation lets go of the operation's own progress, which is when it has run.
    private final class Counted: Sendable {
        static let key = ProgressUserInfoKey(rawValue: "counted")

        private let progress: QueueProgress

        init(_ progress: QueueProgress) {
            self.progress = progress
        }

        deinit {
            progress.count()
        }
    }
#endif
