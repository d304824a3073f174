/// Revive: puts dead jobs back in line with fresh attempts, when their name is free.
extension MemoryQueue {
    mutating func revive(_ id: String) -> ReviveVerdict {
        guard let job = jobs[id] else { return .notFound }
        guard job.place == .dead else { return .notDead }
        if let name = job.name {
            if let holder = holders[name] { return .nameTaken(holder: holder) }
            holders[name] = id
            jobs[id]?.isNameless = false
        }
        vacate(id)
        jobs[id]?.forgetRuns()
        lineUp(id)
        return .revived
    }
}

extension MemoryJob {
    /// Attempts and crash counts start anew.
    mutating func forgetRuns() {
        failures = 0
        crashes = 0
        crashesAlone = 0
        errors = KeptErrors()
        stop = nil
        progress = nil
    }
}
