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

    /// Whether the group starts none of its parts. Unlike that of a ``BackgroundQueue`` this does not count: what was
    /// suspended twice is resumed by the first false. It may be suspended and resumed at any time; parts that run go on, and so
    /// does the group's timeout. A group that ends resumes, so that its cancelled parts leave.
    public final var isSuspended: Bool {
        get { suspension.withLock { $0 == .suspended } }
        set {
            suspension.withLock { suspension in
                guard suspension != .over, newValue != (suspension == .suspended) else { return }
                suspension = newValue ? .suspended : .resumed
                // In one step with the change, because the queue counts.
                queue.isSuspended = newValue
            }
        }
    }

    /// The group has ended: lets its queue go on.
    final func resumeForEnd() {
        suspension.withLock { suspension in
            if suspension == .suspended { queue.isSuspended = false }
            suspension = .over
        }
    }

    /// Gives the parts' queue the group's quality of service, or that of the queue in which the group runs.
    final func inheritQualityOfService() {
        queue.qualityOfService = effectiveQualityOfService
    }
}
