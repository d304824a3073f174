import Errand
import ErrandRedis

extension BenchStage {
    /// Deletes a queue with all its data, and the counter of the ceilings. It touches nothing else on the server.
    func remove(_ queue: String) async throws {
        try await broker.deleteQueue(queue, force: true)
        _ = try await broker.command(.command("DEL", KeySpace.key(of: queue) + ":ceiling"), for: .queue(queue))
    }
}
