import Foundation

/// Tells a background queue that an operation which is not of our making has finished.
///
/// It depends on that operation and runs after it, in a queue of its own: Foundation's documented way, without
/// observing keys and without taking the operation's one completion block.
///
/// Unchecked because `Operation` is a class that others may subclass; there is no variable here.
final class Watcher: Operation, @unchecked Sendable {
    private static let queue = OperationQueue()

    private let membership: Membership

    private init(_ membership: Membership) {
        self.membership = membership
    }

    static func watch(_ operation: Operation, _ membership: Membership) {
        let watcher = Watcher(membership)
        watcher.addDependency(operation)
        queue.addOperation(watcher)
    }

    override func main() {
        membership.end(mayBlock: true)
    }
}
