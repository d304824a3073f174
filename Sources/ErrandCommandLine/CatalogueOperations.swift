package import Errand
package import ErrandCatalogue
import Foundation
import Logging

/// Reads a catalogue.
///
/// - Throws: ``CommandFailure`` with status 78 if the catalogue cannot be read or is invalid.
package func readCatalogue(_ path: String) throws -> Catalogue {
    do { return try Catalogue(contentsOf: path) } catch {
        throw CommandFailure("\(error)", ExitStatus.badConfiguration)
    }
}

extension Catalogue {
    /// Returns the catalogue's operations for a worker: each runs a child or calls a web server.
    package func registeredOperations() -> [RegisteredOperation] {
        let runner = CatalogueRunner(userAgent: "errand-worker/\(ErrandVersion.current)")
        let usual = OperationDefaults()
        return operations.values.map { operation in
            RegisteredOperation(
                operation.name,
                defaults: OperationDefaults(
                    timeout: operation.timeout ?? usual.timeout,
                    retries: operation.retries ?? usual.retries
                ),
                retryStrategy: operation.backoff?.delays ?? RetryDelays(),
                handler: .async { job in
                    let outcome = await runner.run(operation, job: CatalogueJob(job))
                    if case .noRoom(let message) = outcome {
                        job.logger.warning("not run, and to be tried again", metadata: ["error": "\(message)"])
                        // Keeps its slot meanwhile: otherwise a worker without room would go through all waiting jobs,
                        // one after the other.
                        let left = job.deadline - ContinuousClock.now
                        try? await Task.sleep(for: min(.seconds(1), left / 2))
                    }
                    // A service manager may send a signal to the worker and its commands at once.
                    if case .interrupted = outcome { await job.releaseIfStopping() }
                    return HandlerOutcome(outcome)
                }
            )
        }
    }
}

extension CatalogueBackoff {
    /// The delays, with the defaults for values that the catalogue omits.
    package var delays: RetryDelays {
        var delays = RetryDelays(base: base, cap: longest)
        if let jitter { delays.jitter = jitter }
        return delays
    }
}

extension CatalogueJob {
    fileprivate init(_ job: JobContext) {
        let left = job.deadline - ContinuousClock.now
        self.init(
            id: job.id,
            operation: job.operation,
            name: job.name,
            queue: job.queue,
            attempt: job.attempt,
            token: Int64(clamping: job.token),
            deadline: Int64((Date().timeIntervalSince1970 + left / .seconds(1)) * 1000),
            arguments: job.arguments.bytes,
            trace: TraceContext(fields: job.meta)
        )
    }
}

extension Errand.HandlerOutcome {
    fileprivate init(_ outcome: ErrandCatalogue.CatalogueOutcome) {
        switch outcome {
        case .finished(let result): self = .finished(result: result)
        case .failed(let message, let isFinal, let retryAfter):
            self = .failed(message, isFinal: isFinal, retryAfter: retryAfter)
        case .interrupted(let message): self = .failed(message)
        case .retryUnspent, .noRoom: self = .snoozed(.seconds(1))
        case .stopped: self = .failed("stopped")
        }
    }
}
