#if !canImport(ObjectiveC)
    import Foundation

    /// The share of an operation that runs in the progress of its queue.
    ///
    /// The operation's own progress changes on threads of its own, so it is no child of the queue's. A mirror is, which
    /// changes only under the queue's lock.
    ///
    /// Unchecked because of its one variable, which ``QueueProgress`` touches under its lock only.
    final class RunningShare: @unchecked Sendable {
        /// A unit of work is divided into so many, in which halves, thirds, tenths and percents are whole numbers.
        private static let resolution: Int64 = 5_040_000_000

        private weak let foundations: Progress?
        private let ours: OperationProgress?
        private var mirror: Progress?

        /// The share of an operation whose progress Foundation has made, and lets go of when the operation has run.
        init(ofFoundation progress: Progress) {
            foundations = progress
            ours = nil
        }

        init(_ progress: OperationProgress) {
            foundations = nil
            ours = progress
        }

        /// How far the operation is.
        var fraction: Double {
            if let ours { return ours.hasChild ? ours.fractionCompleted : 0 }
            return foundations?.fractionCompleted ?? 0
        }

        /// Takes over how far the operation is. Returns the mirror if that has to be added.
        func advance(to fraction: Double) -> Progress? {
            guard mirror?.isFinished != true else { return nil }
            let isNew = mirror == nil
            let mirror = mirror ?? Progress.discreteProgress(totalUnitCount: RunningShare.resolution)
            self.mirror = mirror
            mirror.completedUnitCount = Int64((min(fraction, 1) * Double(RunningShare.resolution)).rounded())
            return isNew ? mirror : nil
        }

        /// The operation has run. Returns whether that has been counted by the mirror.
        func complete() -> Bool {
            guard let mirror else { return false }
            mirror.completedUnitCount = RunningShare.resolution
            return true
        }
    }
#endif
