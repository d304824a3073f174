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
    /// The first job of a name in a window is accepted, and later ones are dropped, even if the first one has ended by
    /// then. The receipt of a dropped job says until when.
    case throttle
    /// The job runs when no other job of its name has been pushed for a window; a newer one replaces it and waits again.
    case debounce
    /// The new job replaces one that is waiting, and waits for the end of one that is running, without stopping it: at
    /// most one runs and one waits.
    case keepLatest = "keep_latest"

    /// Whether a job takes the name, so that a later one meets it. Throttling remembers windows instead.
    package var takesName: Bool { self != .ignore && self != .throttle }

    /// Whether a job needs a name.
    package var needsName: Bool { self != .ignore }

    /// Whether a job needs a window.
    package var hasWindow: Bool { self == .throttle || self == .debounce }
}
