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
    /// Is passed to one of several long-lived children in Python that do nothing.
    static let served = "noop.serve"
    /// The children of that operation.
    static let children = 4
    /// So many slots that each child has its next job as soon as it has reported on the last one.
    static let slotsForChildren = 8 * children
    private static let program = """
        import json, sys
        for line in sys.stdin:
            job = json.loads(line)
            print(json.dumps(dict(id=job["id"], token=job["token"], outcome="finished")), flush=True)
        """
    /// Reports when it started.
    static let pick = "pick"
    /// Reports the resources that the process has used so far.
    static let usage = "usage"

    /// All operations.
    static var all: [RegisteredOperation] {
        get throws {
            let command: JSONText = ["python3", "-c", JSONText(stringLiteral: program)]
            let yaml = """
                operations:
                  \(child): {run: ["true"]}
                  \(served): {serve: \(command), instances: \(children)}
                """
            return try Catalogue(yaml: yaml, source: "the benchmark").registeredOperations() + [
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
