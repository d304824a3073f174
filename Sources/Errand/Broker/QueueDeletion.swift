/// The outcome of an attempt to delete a queue.
public enum QueueDeletion: Sendable, Equatable {
    /// It was deleted, with so many jobs.
    case deleted(jobs: Int)
    /// It is in use, and was not deleted.
    case inUse(jobs: Int, workers: Int, schedules: Int)
    /// There was no such queue.
    case notFound
}
