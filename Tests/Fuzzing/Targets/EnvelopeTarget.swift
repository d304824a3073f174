import Errand

/// The properties of stored jobs.
@Sendable func checkEnvelope(_ input: [UInt8]) throws(Violation) {
    let job: StoredJob
    do { job = try JobEnvelope.read(stored: input) } catch {
        return try requireDecent("\(error)")
    }
    try require((0...9_999_999_999_999).contains(job.readySince), "ready since \(job.readySince)")
    try requireRules(job.description)
    try require(job.priority == job.description.priority, "two priorities")
    try require(job.policy == .ignore || job.description.name != nil, "a policy without a name")
    try require(job.fragment.allSatisfy { $0 >= 0x20 }, "a fragment that would tear an event's line")
    try checkWritten(job)
}

/// What was read is written and read again as the same.
private func checkWritten(_ job: StoredJob) throws(Violation) {
    let id = job.description.id ?? "made"
    let envelope: JobEnvelope
    do { envelope = try job.description.makeEnvelope { id } } catch {
        // Completing adds an id and a name, for which the largest description has no room.
        return try require(error.code == .tooLarge, "cannot be settled: \(error)")
    }
    let stored = envelope.stored(readySince: job.readySince)
    let again = try require("what was written cannot be read") { try JobEnvelope.read(stored: stored) }
    try require(again.description.operation == job.description.operation, "another operation")
    try require(again.description.arguments == job.description.arguments, "other arguments")
    try require(again.policy == job.policy && again.priority == job.priority, "another policy or priority")
    try require(again.timeout == job.timeout && again.retries == job.retries, "another timeout or other retries")
    try require(again.description.backoff == job.description.backoff, "another backoff")
    try require(again.readySince == job.readySince, "another time")
    try require(job.policy == .ignore || again.description.name == job.description.name, "another name")
}
