/// What a ``BackgroundQueue`` does with a new operation whose name is already in the queue.
///
/// Only the policy of the new operation applies. It is compared with operations of the same name, of any kind, that
/// have not finished and are not cancelled. An operation without a name is not compared. Operations that are added in
/// the same call are not compared with each other.
public enum AsyncOperationUniquenessPolicy: Int, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// Adds the new operation in any case.
    case ignore
    /// Does not add the new operation. The operation ends immediately as cancelled, so its dependents do not wait
    /// forever.
    case drop
    /// Cancels the operations of this name and adds the new one.
    case replace

    /// The default policy: ``ignore``.
    public static let `default` = AsyncOperationUniquenessPolicy.ignore

    /// The name of the case.
    public var description: String {
        switch self {
        case .ignore: "ignore"
        case .drop: "drop"
        case .replace: "replace"
        }
    }
}
