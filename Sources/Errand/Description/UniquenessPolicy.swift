/// What happens to a pushed job if another job of its queue holds its name.
///
/// The broker decides for one job after the other within a queue.
public enum UniquenessPolicy: String, Sendable, CaseIterable {
    /// The job neither takes nor is blocked by a unique name. The default.
    case ignore
    /// The new job is dropped if an unfinished job that was not cancelled holds the name.
    case drop
    /// The new job replaces the old one: immediately if that is waiting, otherwise when its claim has ended.
    case replace
}
