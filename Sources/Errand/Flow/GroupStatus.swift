/// What is known of a group of jobs.
public struct GroupStatus: Sendable, Equatable {
    /// The name: one part, or two with a slash between.
    public let group: String
    /// The number of jobs that are ready, whatever holds the group back. Of a first part, those of its second parts as
    /// well.
    public let waiting: Int
    /// The number of jobs that are claimed.
    public let held: Int
    /// How many jobs may be claimed at the same time; `nil` for no limit.
    public let limit: Int?

    package init(group: String, waiting: Int, held: Int, limit: Int?) {
        self.group = group
        self.waiting = waiting
        self.held = held
        self.limit = limit
    }

    /// How many groups one call returns at most.
    package static let mostShown = 1000
}
