import Foundation
import TestSupport

/// What single workers hold, by the ledger and by the server's word.
extension ScenarioContext {
    /// Those of these jobs that a worker has begun.
    func begun(_ ids: [String], by worker: Program) -> [String] {
        let mine = Set(ledger.lines.filter { $0.pid == worker.pid && $0.what == "begin" }.map(\.id))
        return ids.filter(mine.contains)
    }

    /// When the lease of a worker's session ends, in milliseconds since 1970.
    func leaseEnd(of worker: Program, on server: RedisServer) throws -> Int64 {
        guard let session = sessions(of: worker).last,
            let end = Int64(try server.run("ZSCORE", Self.key("sessions"), session).trimmed)
        else { throw TestFailure("the server knows no session of worker \(worker.pid)") }
        return end
    }

    /// Each of these workers runs as many jobs at once as it can: these end only when all of them have begun, and are as many as all
    /// workers can run together. One that has claimed ahead, because its last runs were short, must give back what waits.
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
        // Whether they have or not: what waits must end.
        defer { _ = FileManager.default.createFile(atPath: gate, contents: nil) }
        // Not measured as a recovery: what was claimed ahead waits for 2 s before it is given back.
        try await eventually("all \(workers.count) workers are busy", within: limit) {
            let begun = ledger.begun
            return ids.allSatisfy { begun[$0] != nil }
        }
    }
}
