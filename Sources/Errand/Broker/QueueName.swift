/// The rules for names of queues and ids of jobs.
package enum QueueName {
    /// Returns whether a queue may have this name: `[A-Za-z0-9_.-]{1,128}`.
    package static func isValid(_ name: String) -> Bool { DescriptionRules.isToken(name.utf8) }
    /// Returns whether a job may have this id: `[A-Za-z0-9_-]{1,64}`.
    package static func isValid(jobID id: String) -> Bool { DescriptionRules.isID(id.utf8) }
}
