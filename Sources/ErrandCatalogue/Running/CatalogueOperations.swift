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
                    let checkpoint = operation.readsCheckpoints ? try await job.checkpointText() : nil
                    return try await job.withResults(for: operation) { facts in
                        await runner.run(
                            operation,
                            job: facts,
                            checkpoint: checkpoint,
                            store: { await job.store($0) },
                            ended: { await job.commandEnded($0) }
                        )
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
        if case .http = operation.kind { return await body(JobFacts(self)) }
        guard isWorkflowMember else { return await body(JobFacts(self)) }
        return try await ResultsFile.holding(try await results()) { path in
            var facts = JobFacts(self)
            facts.results = path
            return await body(facts)
        }
    }

    /// Stores what a child has reported. What cannot be stored must not fail the job: the claim is lost then, or the broker
    /// does not take it.
    fileprivate func store(_ reports: JobReports) async {
        do { if let checkpoint = reports.checkpoint { try await self.checkpoint(text: checkpoint) } } catch {
            logger.warning("the checkpoint of a child was not stored", metadata: ["error": "\(error)"])
        }
        do {
            if let progress = reports.progress { try await self.progress(progress.fraction, progress.message) }
        } catch { logger.warning("the progress of a child was not stored", metadata: ["error": "\(error)"]) }
    }

    fileprivate func commandEnded(_ result: ChildResult) async {
        if let error = result.lackOfRoom {
            logger.warning(
                "the command could not be started; it is tried again in a second",
                metadata: ["error": "\(error)"]
            )
            // Keeps its slot meanwhile: otherwise a worker without room would go through all waiting jobs, one after
            // the other.
            let left = deadline - ContinuousClock.now
            try? await Task.sleep(for: min(.seconds(1), left / 2))
        }
        // A service manager may send a signal to the worker and its commands at once.
        if result.isInterrupted { await releaseIfStopping() }
    }
}

extension CatalogueOperation {
    fileprivate var readsCheckpoints: Bool {
        if case .serve(let pool) = kind { pool.command.readsCheckpoints } else { false }
    }
}
