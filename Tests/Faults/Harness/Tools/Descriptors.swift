import Foundation
import Synchronization
import TestSupport

/// The open descriptors of workers: a leak with each fault shows at the end.
extension ScenarioContext {
    /// The permitted growth since the registration: another connection, one that is being closed, a file.
    private static let descriptorsMore = 16

    /// Counts the descriptors of a worker after its first registration.
    func noteDescriptors(of worker: Program) {
        guard let count = worker.openDescriptors else { return }
        state.withLock { if $0.descriptors[worker.pid] == nil { $0.descriptors[worker.pid] = count } }
    }

    /// Checks that no worker that has run since then has many more.
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
    /// The number of the worker's open descriptors; `nil` if its process is another program, or if the system does not
    /// report it.
    fileprivate var openDescriptors: Int? {
        let files = FileManager.default
        // The words before its command may be programs that have not executed it yet.
        guard let program = try? files.destinationOfSymbolicLink(atPath: "/proc/\(pid)/exe"),
            program.hasSuffix("/errand-fault-worker")
        else { return nil }
        return try? files.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count
    }
}
