/// The facts of a job that its operation receives.
package struct CatalogueJob: Sendable {
    /// The job's id.
    package var id: String
    /// The operation's name.
    package var operation: String
    /// The job's name, if it has one.
    package var name: String?
    /// The queue of the job.
    package var queue: String
    /// The number of this attempt, from 1.
    package var attempt: Int
    /// The fencing token of the claim.
    package var token: Int64
    /// The time at which the run is stopped, in milliseconds since 1970 UTC.
    package var deadline: Int64?
    /// The arguments as JSON text.
    package var arguments: [UInt8]
    /// The trace context of the job, if it has one.
    package var trace: TraceContext?

    /// Makes a job from a claim.
    package init(
        id: String,
        operation: String,
        name: String? = nil,
        queue: String = "default",
        attempt: Int = 1,
        token: Int64 = 0,
        deadline: Int64? = nil,
        arguments: [UInt8],
        trace: TraceContext? = nil
    ) {
        self.id = id
        self.operation = operation
        self.name = name
        self.queue = queue
        self.attempt = attempt
        self.token = token
        self.deadline = deadline
        self.arguments = arguments
        self.trace = trace
    }

    /// The facts for a child process or a web server: their names and texts.
    var facts: [(key: String, value: String)] {
        [
            ("JOB_ID", id), ("OPERATION", operation), ("NAME", name ?? ""), ("QUEUE", queue),
            ("ATTEMPT", String(attempt)), ("TOKEN", String(token)),
        ] + (deadline.map { [("DEADLINE_MS", String($0))] } ?? [])
    }
}
