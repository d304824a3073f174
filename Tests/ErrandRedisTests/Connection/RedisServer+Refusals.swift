import TestSupport

/// A server that takes no writes for the moment.
extension RedisServer {
    /// Lets writes be refused with NOREPLICAS, or be taken again.
    func refuseWrites(_ refuses: Bool) throws {
        try run("CONFIG", "SET", "min-replicas-to-write", refuses ? "1" : "0")
    }

    /// How many calls were refused so.
    func refusedWrites() throws -> Int {
        let line = try run("INFO", "errorstats").firstMatch(of: /errorstat_NOREPLICAS:count=(\d+)/)
        return line.flatMap { Int($0.output.1) } ?? 0
    }
}
