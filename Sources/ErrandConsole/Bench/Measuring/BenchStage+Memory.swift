import ErrandCommandLine
import ErrandRedis

extension BenchStage {
    /// The memory of the server's data, once it has freed what was removed before. What connections and the append-only file have in
    /// their buffers just then is not among it.
    func settledMemory() async throws -> Int {
        let end = ContinuousClock.now + .seconds(60)
        while true {
            let info = try await info()
            if info.number("lazyfree_pending_objects") ?? 0 == 0 { return info.number("used_memory_dataset") ?? 0 }
            guard ContinuousClock.now < end else {
                throw CommandFailure("the server did not free what was removed", ExitStatus.unsuccessful)
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
