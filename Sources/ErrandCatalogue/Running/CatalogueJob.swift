/// What an operation of the catalogue learns of the job that it runs.
package struct CatalogueJob: Sendable {
    /// The job's id.
    package var id: String
    /// The operation's name.
    package var operation: String
    /// The job's name, if it has one.
    package var name: String?
    /// The queue it came from.
    package var queue: String
    /// Which attempt this is, from 1.
    package var attempt: Int
    /// The fence of the claim.
    package var token: Int64
    /// When the run is stopped, in milliseconds since 1970 UTC.
    package var deadline: Int64?
    /// The arguments as JSON text.
    package var arguments: [UInt8]
    /// The trace that follows the job, if there is one.
    package var trace: TraceContext?

    /// A job as a worker has claimed it.
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

    /// The facts as a child or a web server gets them: what each is called there, and its text.
    var facts: [(key: String, value: String)] {
        [
            ("JOB_ID", id), ("OPERATION", operation), ("NAME", name ?? ""), ("QUEUE", queue),
            ("ATTEMPT", String(attempt)), ("TOKEN", String(token)),
        ] + (deadline.map { [("DEADLINE_MS", String($0))] } ?? [])
    }
}
