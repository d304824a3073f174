import Errand

/// The place where a list of dead jobs, newest first, continues: behind the last job that was shown.
///
/// It names a job's time and not its position. So the next page begins at the right place even if other jobs have died
/// or were retried meanwhile.
package struct NewestCursor: Sendable, Equatable {
    /// When the last job died, in milliseconds since 1970 UTC.
    package var time: Int64
    /// The queue of that job.
    package var queue: String
    /// The id of that job.
    package var id: String

    /// Makes a cursor behind a job.
    package init(behind job: JobSummary) {
        time = job.record.at ?? 0
        queue = job.queue
        id = job.record.id
    }

    /// Parses the format of ``text``; returns `nil` for anything else.
    package init?(_ text: String) {
        // A client that writes to the broker may have stored any id, and the list has to go on behind it.
        let parts = text.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4, parts[0] == "newest", let time = Int64(parts[1]), time >= 0,
            QueueName.isValid(parts[2]), !parts[3].isEmpty
        else { return nil }
        (self.time, queue, id) = (time, parts[2], parts[3])
    }

    /// The cursor for a URL or a command line: `newest:1795215724000:images:job-7`.
    package var text: String { "newest:\(time):\(queue):\(id)" }

    /// Returns whether a job comes before this place, or is the job itself.
    func isBehind(_ job: JobSummary) -> Bool { !self.precedes(NewestCursor(behind: job)) }

    /// Returns whether this place comes first: of a later time; of equal times by queue, and in a queue by id, from the
    /// highest, as the broker lists them.
    func precedes(_ other: NewestCursor) -> Bool {
        if time != other.time { return time > other.time }
        if queue != other.queue { return queue < other.queue }
        return other.id < id
    }
}
