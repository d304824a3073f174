/// What a queue may be called.
package enum QueueName {
    /// Whether a queue may have this name: `[A-Za-z0-9_.-]{1,128}`.
    package static func isValid(_ name: String) -> Bool { DescriptionRules.isToken(name.utf8) }
    /// Whether a job may have this id: `[A-Za-z0-9_-]{1,64}`.
    package static func isValid(jobID id: String) -> Bool { DescriptionRules.isID(id.utf8) }
}
