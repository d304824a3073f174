/// The tickets of what is in a group, and in the groups in it: what the group waits for once it has begun.
///
/// Unchecked because of its variables, which ``ExclusiveCategories`` touches under its lock only.
final class GroupTickets: @unchecked Sendable {
    /// By identity, from when they get in line until they leave.
    var tickets: [ObjectIdentifier: CategoryTicket] = [:]
    /// How many parts of the group run at once; nil if nothing limits them.
    var places: Int?
}
