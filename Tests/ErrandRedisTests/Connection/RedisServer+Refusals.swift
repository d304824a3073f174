import TestSupport

/// A server that temporarily rejects writes.
extension RedisServer {
    /// Makes the server reject writes with NOREPLICAS, or accept them again.
    func refuseWrites(_ refuses: Bool) throws {
        try run("CONFIG", "SET", "min-replicas-to-write", refuses ? "1" : "0")
    }

    /// The number of calls that were rejected with it.
    func refusedWrites() throws -> Int {
        let line = try run("INFO", "errorstats").firstMatch(of: /errorstat_NOREPLICAS:count=(\d+)/)
        return line.flatMap { Int($0.output.1) } ?? 0
    }
}
