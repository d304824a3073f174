/// The identifier of a background task, which ``BackgroundTasks/beginBackgroundTask(withName:expirationHandler:)``
/// returns.
///
/// A process uses each identifier only once, so ending a task with an old identifier never ends a newer task.
public struct BackgroundTaskIdentifier: RawRepresentable, Sendable, Hashable {
    /// The identifier of no task. Ending it has no effect.
    public static let invalid = BackgroundTaskIdentifier(rawValue: 0)

    /// The identifier as a number, for logs and storage. Zero is ``invalid``; other values have no meaning of their
    /// own.
    public let rawValue: Int

    /// Creates the identifier with this number. If no task has it, ending it has no effect.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }
}
