/// What a ``BackgroundQueue`` does with a new operation whose name is already in the queue.
///
/// Only the new operation's policy counts. It is compared with the operations of the same name, of any kind, that are
/// neither finished nor cancelled; an operation without a name is compared with none. Operations of one name that are
/// added in the same call are not compared with each other.
public enum AsyncOperationUniquenessPolicy: Int, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// Add the new operation whatever is there.
    case ignore
    /// Do not add the new operation. It ends at once, as cancelled, so nothing that depends on it waits forever.
    case drop
    /// Cancel the operations that are there and add the new one.
    case replace

    /// What an operation does unless told otherwise: ``ignore``.
    public static let `default` = AsyncOperationUniquenessPolicy.ignore

    /// The case's name.
    public var description: String {
        switch self {
        case .ignore: "ignore"
        case .drop: "drop"
        case .replace: "replace"
        }
    }
}
