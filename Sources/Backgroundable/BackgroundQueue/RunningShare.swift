#if !canImport(ObjectiveC)
    import Foundation

    /// The share of a running operation in the progress of its queue.
    ///
    /// The operation's own progress changes on other threads, so it is not a child of the queue's progress. That
    /// child is a mirror of it, which changes only under the queue's lock.
    ///
    /// Unchecked because of its variable, which only ``QueueProgress`` accesses, under its lock.
    final class RunningShare: @unchecked Sendable {
        /// The number of units of a mirror. Halves, thirds, tenths and percents of it are whole numbers.
        private static let resolution: Int64 = 5_040_000_000

        private weak let foundations: Progress?
        private let ours: OperationProgress?
        private var mirror: Progress?

        /// Creates the share for a progress that Foundation made and releases once the operation has run.
        init(ofFoundation progress: Progress) {
            foundations = progress
            ours = nil
        }

        init(_ progress: OperationProgress) {
            foundations = nil
            ours = progress
        }

        /// The completed fraction of the operation.
        var fraction: Double {
            if let ours { return ours.hasChild ? ours.fractionCompleted : 0 }
            return foundations?.fractionCompleted ?? 0
        }

        /// Copies the completed fraction to the mirror. Returns the mirror if it is new and has to be added.
        func advance(to fraction: Double) -> Progress? {
            guard mirror?.isFinished != true else { return nil }
            let isNew = mirror == nil
            let mirror = mirror ?? Progress.discreteProgress(totalUnitCount: RunningShare.resolution)
            self.mirror = mirror
            mirror.completedUnitCount = Int64((min(fraction, 1) * Double(RunningShare.resolution)).rounded())
            return isNew ? mirror : nil
        }

        /// Completes the share of an operation that has run. Returns whether the mirror counted it.
        func complete() -> Bool {
            guard let mirror else { return false }
            mirror.completedUnitCount = RunningShare.resolution
            return true
        }
    }
#endif
