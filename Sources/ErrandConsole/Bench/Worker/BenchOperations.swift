import Errand
import ErrandCatalogue
import ErrandCommandLine

/// What the benchmark's workers can do.
enum BenchOperations {
    /// Nothing, on a thread that may block.
    static let noop = "noop"
    /// Nothing, asynchronously.
    static let asynchronous = "noop.async"
    /// A child process that does nothing.
    static let child = "noop.run"
    /// Tells when it began.
    static let pick = "pick"
    /// Tells what the process has used so far.
    static let usage = "usage"

    /// All of them.
    static var all: [RegisteredOperation] {
        get throws {
            let catalogue = try Catalogue(yaml: "operations: {\(child): {run: [\"true\"]}}", source: "the benchmark")
            return catalogue.registeredOperations() + [
                RegisteredOperation(noop, handler: .blocking { _ in .finished() }),
                RegisteredOperation(asynchronous, handler: .async { _ in .finished() }),
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
