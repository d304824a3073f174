public import Foundation

extension OperationQueue {
    /// The shared background queue of the process.
    public static let background: BackgroundQueue = {
        let queue = BackgroundQueue()
        queue.name = "background"
        return queue
    }()
}
