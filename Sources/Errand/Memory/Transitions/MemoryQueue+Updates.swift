/// Update: stores what a running job reports.
extension MemoryQueue {
    /// Stores an update, if the session still has the claim.
    mutating func store(_ update: JobUpdate, from session: String) throws(BrokerError) -> Bool {
        guard (update.checkpoint ?? []).count <= JobUpdate.checkpointBytes else {
            throw BrokerError(.refused, "a checkpoint has at most 65536 bytes; store it elsewhere and keep a reference")
        }
        guard let job = jobs[update.id], sessions[session]?.claims[update.id]?.token == update.token else {
            return false
        }
        if let checkpoint = update.checkpoint { jobs[update.id]?.checkpoint = checkpoint }
        if let progress = update.progress {
            // The progress is stored as it would be read back, so that both brokers store the same.
            jobs[update.id]?.progress = JobProgress(json: Array("{".utf8) + progress.members + Array("}".utf8))
            publish(
                .progress,
                of: job,
                MemoryEventDetails(attempt: job.failures + 1, worker: session, members: progress.members)
            )
        }
        return true
    }
}
