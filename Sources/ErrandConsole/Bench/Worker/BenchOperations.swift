import Errand
import ErrandCatalogue
import ErrandCommandLine

/// The operations of the benchmark's workers.
enum BenchOperations {
    /// Does nothing, on a thread that may block.
    static let noop = "noop"
    /// Does nothing, asynchronously.
    static let asynchronous = "noop.async"
    /// Fails for good.
    static let failing = "noop.failing"
    /// Runs a child process that does nothing.
    static let child = "noop.run"
    /// Reports when it started.
    static let pick = "pick"
    /// Reports the resources that the process has used so far.
    static let usage = "usage"

    /// All operations.
    static var all: [RegisteredOperation] {
        get throws {
            let catalogue = try Catalogue(yaml: "operations: {\(child): {run: [\"true\"]}}", source: "the benchmark")
            return catalogue.registeredOperations() + [
                RegisteredOperation(noop, handler: .blocking { _ in .finished() }),
                RegisteredOperation(asynchronous, handler: .async { _ in .finished() }),
                RegisteredOperation(
                    failing,
                    handler: .blocking { _ in throw JobFailure("the benchmark wants it to", isFinal: true) }
                ),
                RegisteredOperation(
                    pick,
                    handler: .blocking { job in
                        BenchLine.picked(id: job.id, at: MonotonicClock.nanoseconds).write()
                        return .finished()
                    }
                ),
                RegisteredOperation(
                    usage,
                    handler: .blocking { _ in
                        BenchLine.used(.now).write()
                        return .finished()
                    }
                ),
            ]
        }
    }
}
