import Errand

/// A queue that copies of a world share, and read without copying it.
final class SharedQueue: Sendable {
    let queue: MemoryQueue

    init(_ queue: MemoryQueue) { self.queue = queue }
}
