import Errand

/// What a child has reported of its job and is still to be stored. A newer report replaces an older one.
struct JobReports: Sendable {
    /// The part that is done, 0 to 1, and what the job does now.
    var progress: (fraction: Double, message: String?)?
    /// A value for the next attempt.
    var checkpoint: JSONText?

    var isEmpty: Bool { progress == nil && checkpoint == nil }
}
