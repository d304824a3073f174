/// Update: stores what a running job reports.
extension MemoryQueue {
    /// Stores an update, if the session still has the claim.
    mutating func take(_ note: JobUpdate, from session: String) throws(BrokerError) -> Bool {
        guard (note.checkpoint ?? []).count <= JobUpdate.checkpointBytes else {
            throw BrokerError(.refused, "a checkpoint has at most 65536 bytes")
        }
        guard let job = jobs[note.id], sessions[session]?.claims[note.id]?.token == note.token else { return false }
        if let checkpoint = note.checkpoint { jobs[note.id]?.checkpoint = checkpoint }
        if let progress = note.progress {
            // The progress is stored as it would be read back, so that both brokers store the same.
            jobs[note.id]?.progress = JobProgress(json: Array("{".utf8) + progress.members + Array("}".utf8))
            publish(
                .progress,
                of: job,
                MemoryEventDetails(attempt: job.failures + 1, worker: session, members: progress.members)
            )
        }
        return true
    }
}
