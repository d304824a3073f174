import ErrandCommandLine
import ErrandRedis
import Synchronization

extension BenchStage {
    /// The fields of INFO for background writes, which a measurement should not overlap.
    private static let writing = ["aof_rewrite_in_progress", "aof_rewrite_scheduled", "rdb_bgsave_in_progress"]

    /// Removes the data of earlier measurements, so that the next one starts on a server that has none and is idle.
    func reset() async throws {
        try await tidyUp()
        _ = try await settle()
    }

    /// Returns the memory of all servers' data after they have freed removed keys. Buffers of connections and of the
    /// append-only file do not count.
    func settledMemory() async throws -> Int {
        try await settle().reduce(0) { $0 + ($1.number("used_memory_dataset") ?? 0) }
    }

    /// Waits until all servers have freed removed keys and rewrite no file.
    private func settle() async throws -> [RedisInfo] {
        let end = ContinuousClock.now + .seconds(120)
        let pause = Duration.milliseconds(20)
        while true {
            let info = try await info()
            let isFreeing = info.contains { $0.number("lazyfree_pending_objects") ?? 0 > 0 }
            let isWriting = info.contains { server in Self.writing.contains { server.number($0) ?? 0 > 0 } }
            if !isFreeing, !isWriting || patience.withLock({ $0 <= .zero }) { return info }
            guard ContinuousClock.now < end else {
                throw CommandFailure("the server did not free removed data", ExitStatus.unsuccessful)
            }
            try await Task.sleep(for: pause)
            if isWriting { patience.withLock { $0 -= pause } }
        }
    }
}
