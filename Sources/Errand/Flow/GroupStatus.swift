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
    /// Until when the group starts no job, in milliseconds since 1970; `nil` if it may.
    public let restingUntil: Int64?
    /// Whether it rests because of its rate, and not because a handler lets it rest.
    public let isAtRate: Bool
    /// The id of the job that the group waits for if it is ordered: it has started and not ended; `nil` if there is none.
    public let blocker: String?

    package init(
        group: String,
        waiting: Int,
        held: Int,
        limit: Int?,
        restingUntil: Int64? = nil,
        isAtRate: Bool = false,
        blocker: String? = nil
    ) {
        self.group = group
        self.waiting = waiting
        self.held = held
        self.limit = limit
        self.restingUntil = restingUntil
        self.isAtRate = isAtRate
        self.blocker = blocker
    }

    /// How many groups one call returns at most.
    package static let mostShown = 1000
}
