/// The owner of a job's run, which is told of its begin and its end.
protocol JobRunDelegate: AnyObject, Sendable {
    /// The queue that the job came from.
    var queue: String { get }

    /// Notes that the run with this token has begun.
    func noteBegun(_ token: Token)

    /// Counts a run of the handler that has ended: how long its job was ready before, and how long it ran, both in
    /// milliseconds.
    func count(_ ending: RunEnding, of operation: String, waited: Int, ran: Int)

    /// Notes that a run has ended. Without a report nothing is sent to the broker.
    func ended(_ run: JobRun, _ report: OutcomeReport?)
}
