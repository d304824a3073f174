import Errand
import ErrandHTTP

/// Runs the operations of a catalogue, with this process's children and connections to web servers.
struct CatalogueRunner: Sendable {
    /// The user agent of web calls.
    var userAgent = "errand"

    /// Runs an operation to its end.
    ///
    /// If the task is cancelled, the child's process group or the request is stopped.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - job: The job, whose arguments fill the operation's templates.
    ///   - checkpoint: What an earlier attempt has stored, for a long-lived child.
    ///   - store: Stores what such a child reports of its job.
    ///   - ended: Called with the result of a command.
    /// - Returns: The outcome, after the work has ended.
    func run(
        _ operation: CatalogueOperation,
        job: JobFacts,
        checkpoint: JSONText? = nil,
        store: (JobReports) async -> Void = { _ in },
        ended: (ChildResult) async -> Void = { _ in }
    ) async -> HandlerOutcome {
        do throws(ArgumentError) {
            switch operation.kind {
            case .run(let templates):
                let result = await ChildProcesses.shared.run(try ChildCommand(templates, job: job))
                await ended(result)
                return HandlerOutcome(result)
            case .http(let request):
                let made = try HTTPRequest(request, job: job, userAgent: userAgent)
                let answer = await HTTPSession.shared.send(made, until: .body(kept: 64 * 1024))
                return HandlerOutcome(answer, to: made, restsGroup: operation.restsGroup)
            case .serve(let pool):
                return await pool.run(ServedJob(facts: job, checkpoint: checkpoint), store: store, ended: ended)
            }
        } catch {
            return .failed("\(error)", isFinal: true)
        }
    }
}
