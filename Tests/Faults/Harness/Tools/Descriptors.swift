import Foundation
import Synchronization
import TestSupport

/// How many files, connections and pipes workers have open: whoever loses one with each fault has more in the end.
extension ScenarioContext {
    /// So many more than at its registration a worker may have: a connection more, one that is being closed, a file that it reads.
    private static let descriptorsMore = 16

    /// Counts those of a worker that has just registered for the first time.
    func noteDescriptors(of worker: Program) {
        guard let count = worker.openDescriptors else { return }
        state.withLock { if $0.descriptors[worker.pid] == nil { $0.descriptors[worker.pid] = count } }
    }

    /// No worker that has run since then may have many more.
    func expectNoLeakedDescriptors() {
        let (workers, before) = state.withLock { ($0.workers.filter(\.isRunning), $0.descriptors) }
        for worker in workers {
            guard let first = before[worker.pid], let now = worker.openDescriptors else { continue }
            expect(
                now <= first + Self.descriptorsMore,
                "worker \(worker.pid) has \(now) open descriptors, and had \(first) when it registered"
            )
        }
    }
}

extension Program {
    /// How many descriptors the worker has open; `nil` where its process is another program, or the system does not tell.
    fileprivate var openDescriptors: Int? {
        let files = FileManager.default
        // Words before its command may be programs that have not become it.
        guard let program = try? files.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe"),
            program.hasSuffix("/errand-fault-worker")
        else { return nil }
        return try? files.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
    }
}
