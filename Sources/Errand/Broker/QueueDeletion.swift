/// The outcome of an attempt to delete a queue.
public enum QueueDeletion: Sendable, Equatable {
    /// The queue was deleted, with this number of jobs.
    case deleted(jobs: Int)
    /// The queue is in use and was not deleted.
    case inUse(jobs: Int, workers: Int, schedules: Int)
    /// The queue does not exist.
    case notFound
}
