/// A kind of job with parameters and handler in one type, similar to Vapor's `AsyncJob`.
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
    /// Runs the job. A thrown error determines the outcome: see ``JobFailure``, ``JobSnooze`` and ``JobCancellation``;
    /// any other error is a failure.
    func execute(context: JobContext) async throws
}
