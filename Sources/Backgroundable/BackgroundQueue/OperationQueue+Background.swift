public import Foundation

extension OperationQueue {
    /// The process's shared background queue.
    public static let background: BackgroundQueue = {
        let queue = BackgroundQueue()
        queue.name = "background"
        return queue
    }()
}
