package import Errand
import Logging

extension Catalogue {
    /// Returns the catalogue's operations for a worker: each runs a child or calls a web server.
    ///
    /// - Parameter userAgent: The user agent of web calls.
    package func registeredOperations(userAgent: String = "errand") -> [RegisteredOperation] {
        let runner = CatalogueRunner(userAgent: userAgent)
        let usual = OperationDefaults()
        return operations.values.map { operation in
            RegisteredOperation(
                operation.name,
                defaults: OperationDefaults(
                    timeout: operation.values.timeout ?? usual.timeout,
                    retries: operation.values.retries ?? usual.retries
                ),
                retryStrategy: operation.values.backoff ?? RetryDelays(),
                handler: .async { job in
                    try await job.withResults(for: operation) { facts in
                        await runner.run(operation, job: facts) { result in await job.commandEnded(result) }
                    }
                }
            )
        }
    }
}

extension JobContext {
    /// Passes the job's facts to a body; to a command of a workflow's job also the results of what it comes after.
    fileprivate func withResults(
        for operation: CatalogueOperation,
        _ body: (JobFacts) async -> HandlerOutcome
    ) async throws -> HandlerOutcome {
        guard case .run = operation.kind, isWorkflowMember else { return await body(JobFacts(self)) }
        return try await ResultsFile.holding(try await results()) { path in
            var facts = JobFacts(self)
            facts.results = path
            return await body(facts)
        }
    }

    fileprivate func commandEnded(_ result: ChildResult) async {
        if let error = result.lackOfRoom {
            logger.warning("not run, and to be tried again", metadata: ["error": "\(error)"])
            // Keeps its slot meanwhile: otherwise a worker without room would go through all waiting jobs, one after
            // the other.
            let left = deadline - ContinuousClock.now
            try? await Task.sleep(for: min(.seconds(1), left / 2))
        }
        // A service manager may send a signal to the worker and its commands at once.
        if result.isInterrupted { await releaseIfStopping() }
    }
}
