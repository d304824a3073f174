/// What ``BackgroundTasks/beginBackgroundTask(withName:expirationHandler:)`` returns, and what ends that task.
///
/// A process gives each identifier out once: one that was kept too long ends nothing that began later.
public struct BackgroundTaskIdentifier: RawRepresentable, Sendable, Hashable {
    /// The identifier of no task. Ending it does nothing.
    public static let invalid = BackgroundTaskIdentifier(rawValue: 0)

    /// The identifier as a number, for logs and for keeping. Zero is ``invalid``; the others mean nothing by
    /// themselves.
    public let rawValue: Int

    /// The identifier that had this number. A number that no identifier ever had ends no task.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }
}
