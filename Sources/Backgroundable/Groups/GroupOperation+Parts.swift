public import Foundation

extension GroupOperation {
    /// The parts that have not finished, in the order in which they were added.
    public final var operations: [Operation] {
        parts.withLock { state in
            let running = state.running.values.filter { !$0.isHelper }.sorted { $0.number < $1.number }
            let starting = state.starting.filter { state.running[ObjectIdentifier($0)] == nil && !$0.isFinished }
            return running.map(\.operation) + starting + state.waiting
        }
    }

    /// Whether the group starts no parts.
    ///
    /// Unlike in a ``BackgroundQueue``, suspensions are not counted: one resume is enough. A group can be suspended and
    /// resumed at any time. Running parts and the group's timeout continue. A group that ends is resumed, so that its
    /// cancelled parts leave.
    public final var isSuspended: Bool {
        get { suspension.withLock { $0 == .suspended } }
        set {
            suspension.withLock { suspension in
                guard suspension != .over, newValue != (suspension == .suspended) else { return }
                suspension = newValue ? .suspended : .resumed
                // In the same step, because the queue counts its suspensions.
                queue.isSuspended = newValue
            }
        }
    }

    /// Resumes the queue of a group that has ended.
    final func resumeForEnd() {
        suspension.withLock { suspension in
            if suspension == .suspended { queue.isSuspended = false }
            suspension = .over
        }
    }

    /// Sets the quality of service of the parts' queue to that of the group, or of the queue in which the group runs.
    final func inheritQualityOfService() {
        queue.qualityOfService = effectiveQualityOfService
    }
}
