/// Runs the operations of a catalogue.
///
/// ```swift
/// let outcome = await CatalogueRunner().run(operation, job: job)
/// ```
package struct CatalogueRunner: Sendable {
    private let children: ChildProcesses
    private let http: HTTPCaller

    /// A runner on this process's children and its connections to web servers.
    package init() {
        children = .shared
        http = .shared
    }

    /// Runs an operation to its end.
    ///
    /// When the task is cancelled, the child's process group or the request is stopped.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - job: The job, whose arguments fill in the operation's templates.
    /// - Returns: How it ended, once it really has.
    package func run(_ operation: CatalogueOperation, job: CatalogueJob) async -> CatalogueOutcome {
        switch operation.kind {
        case .run(let templates): await run(templates, job: job)
        case .http(let request): await http.call(request, job: job)
        }
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
