/// The tickets of the operations in a group and in its nested groups: a group that has begun waits for them.
///
/// Unchecked because of its variables, which only ``ExclusiveCategories`` accesses, under its lock.
final class GroupTickets: @unchecked Sendable {
    /// The tickets by identity, from entering the wait queues until leaving them.
    var tickets: [ObjectIdentifier: CategoryTicket] = [:]
    /// The maximum number of parts that run at the same time. Nil means no limit.
    var places: Int?
}
