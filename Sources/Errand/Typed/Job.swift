/// A kind of job that knows itself how to run: parameters and handler in one type, in the shape of Vapor's `AsyncJob`.
///
/// ```swift
/// struct Greet: Job {
///     static let jobName = "greet"
///     let name: String
///
///     func execute(context: JobContext) async throws { print("Hello, \(name)!") }
/// }
///
/// worker.registerJob(Greet.self)
/// try await producer.push(Greet(name: "Ada"))
/// ```
public protocol Job: JobParameters {
    /// Runs the job. What it throws decides what becomes of it: see ``JobFailure``, ``JobSnooze`` and ``JobCancellation``; any
    /// other error is a failure.
    func execute(context: JobContext) async throws
}
