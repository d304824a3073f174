/// What happens to a pushed job when another job of its queue already holds its name.
///
/// The decision is made by the broker, one job after the other, within one queue.
public enum UniquenessPolicy: String, Sendable, CaseIterable {
    /// The job opts out: it neither takes nor blocks a name. The default.
    case ignore
    /// The new job gives way to any unfinished, uncancelled holder of the name.
    case drop
    /// The old job gives way: at once if it has not started, else when its claim has ended.
    case replace
}
