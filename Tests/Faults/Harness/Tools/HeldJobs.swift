import Foundation
import TestSupport

/// The jobs of single workers, according to the ledger and the server.
extension ScenarioContext {
    /// The jobs among these that a worker has begun.
    func begun(_ ids: [String], by worker: Program) -> [String] {
        let mine = Set(ledger.lines.filter { $0.pid == worker.pid && $0.what == "begin" }.map(\.id))
        return ids.filter(mine.contains)
    }

    /// The end of the lease of a worker's session, in milliseconds since 1970.
    func leaseEnd(of worker: Program, on server: RedisServer) throws -> Int64 {
        guard let session = sessions(of: worker).last,
            let end = Int64(try server.run("ZSCORE", Self.key("sessions"), session).trimmed)
        else { throw TestFailure("the server knows no session of worker \(worker.pid)") }
        return end
    }

    /// Checks that each of these workers runs as many jobs at once as it can: the jobs only end when all have begun,
    /// and are as many as all workers can run together. A worker that has claimed ahead, because its last runs were
    /// short, must release waiting jobs.
    func expectEveryoneIsBusy(
        _ workers: [Program],
        concurrency: Int = 4,
        within limit: Duration = .seconds(10)
    ) async throws {
        let gate = directory + "/everyone-" + String(UInt32.random(in: 0 ... .max), radix: 36)
        let ids = try await push(workers.count * concurrency, "gate") {
            $0.gate = gate
            $0.timeout = .seconds(120)
        }
        // In any case the waiting jobs must end.
        defer { _ = FileManager.default.createFile(atPath: gate, contents: nil) }
        // Not measured as a recovery, because jobs that were claimed ahead are released after 2 s.
        try await eventually("all \(workers.count) workers are busy", within: limit) {
            let begun = ledger.begun
            return ids.allSatisfy { begun[$0] != nil }
        }
    }
}
