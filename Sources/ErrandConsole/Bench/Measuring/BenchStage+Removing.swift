import Errand
import ErrandRedis

extension BenchStage {
    /// Removes a queue with all that is in it, and the ceilings' own counter. Nothing else of the server is touched.
    func remove(_ queue: String) async throws {
        try await broker.deleteQueue(queue, force: true)
        _ = try await broker.command(.command("DEL", KeySpace.key(of: queue) + ":ceiling"))
    }
}
