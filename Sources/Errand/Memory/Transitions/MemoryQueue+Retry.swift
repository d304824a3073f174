/// Retry: makes dead jobs ready with fresh attempts if their name is free, and jobs that wait for their time as they
/// are.
extension MemoryQueue {
    package mutating func retry(_ id: String) -> RetryOutcome {
        guard let job = jobs[id] else { return .notFound }
        guard job.place == .dead else { return hurry(job) }
        if let name = job.name {
            if let holder = holders[name] { return .nameTaken(holder: holder) }
            holders[name] = id
            jobs[id]?.isNameless = false
        }
        removeFromPlace(id)
        jobs[id]?.forgetRuns()
        reviveInWorkflows(id)
        enqueue(id)
        return .retried
    }

    private mutating func hurry(_ job: MemoryJob) -> RetryOutcome {
        guard job.place == .scheduled || job.place == .retrying else { return .notDead }
        removeFromPlace(job.id)
        enqueue(job.id)
        return .hurried
    }
}

extension MemoryJob {
    /// Resets attempts and crash counts.
    mutating func forgetRuns() {
        failures = 0
        crashes = 0
        soloCrashes = 0
        hasComeBack = false
        stop = nil
        progress = nil
    }
}
