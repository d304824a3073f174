import ErrandHTTP

/// Runs the operations of a catalogue.
///
/// ```swift
/// let outcome = await CatalogueRunner().run(operation, job: job)
/// ```
package struct CatalogueRunner: Sendable {
    private let children: ChildProcesses
    private let userAgent: String

    /// Makes a runner that uses this process's children and connections to web servers.
    ///
    /// - Parameter userAgent: The user agent of web calls.
    package init(userAgent: String = "errand") {
        children = .shared
        self.userAgent = userAgent
    }

    /// Runs an operation to its end.
    ///
    /// If the task is cancelled, the child's process group or the request is stopped.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - job: The job, whose arguments fill the operation's templates.
    /// - Returns: The outcome, after the work has ended.
    package func run(_ operation: CatalogueOperation, job: CatalogueJob) async -> CatalogueOutcome {
        switch operation.kind {
        case .run(let templates): await run(templates, job: job)
        case .http(let request): await call(request, job: job)
        }
    }

    private func call(_ request: CatalogueRequest, job: CatalogueJob) async -> CatalogueOutcome {
        let made: HTTPRequest
        do {
            made = try HTTPRequest(request, job: job, userAgent: userAgent)
        } catch {
            return .failed("\(error)", final: true)
        }
        return CatalogueOutcome(await HTTPSession.shared.send(made, until: .body(kept: 64 * 1024)), to: made)
    }

    private func run(_ templates: [Template], job: CatalogueJob) async -> CatalogueOutcome {
        let command: ChildCommand
        do {
            command = try ChildCommand(templates, job: job)
        } catch {
            return .failed("\(error)", final: true)
        }
        return CatalogueOutcome(await children.run(command))
    }
}
