import ErrandCommandLine
import ErrandRedis
import Synchronization

extension BenchStage {
    /// What the server does beside its work, and is better done with before something is measured.
    private static let writing = ["aof_rewrite_in_progress", "aof_rewrite_scheduled", "rdb_bgsave_in_progress"]

    /// Removes what is left of the measurements so far, so that the next one begins on a server that holds nothing of ours and rests.
    func reset() async throws {
        try await tidyUp()
        _ = try await settle()
    }

    /// The memory of the server's data, once it has freed what was removed before. What connections and the append-only file have in
    /// their buffers just then is not among it.
    func settledMemory() async throws -> Int { try await settle().number("used_memory_dataset") ?? 0 }

    /// Waits until the server has freed what was removed and writes no file anew.
    private func settle() async throws -> RedisInfo {
        let end = ContinuousClock.now + .seconds(120)
        let pause = Duration.milliseconds(20)
        while true {
            let info = try await info()
            let isFreeing = info.number("lazyfree_pending_objects") ?? 0 > 0
            let isWriting = Self.writing.contains { info.number($0) ?? 0 > 0 }
            if !isFreeing, !isWriting || patience.withLock({ $0 <= .zero }) { return info }
            guard ContinuousClock.now < end else {
                throw CommandFailure("the server did not free what was removed", ExitStatus.unsuccessful)
            }
            try await Task.sleep(for: pause)
            if isWriting { patience.withLock { $0 -= pause } }
        }
    }
}
