/// The command of a `serve` operation, whose long-lived children take one job after the other.
package struct ServedCommand: Sendable, Equatable {
    /// The argument vector; the first value is looked up on PATH unless it contains a slash.
    package let arguments: [String]
    /// How many children there are at most, 1 to 1000. Each has one job at a time.
    package var instances = 1
    /// After how many jobs a child is replaced; `nil` for never.
    package var mostJobs: Int?
    /// A child that has more bytes in memory after a job is replaced; `nil` for never.
    package var mostMemory: Int?
    /// Whether children get the checkpoint of earlier attempts, which costs a call to the broker for each job.
    package var readsCheckpoints = false
}
