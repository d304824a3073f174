import Errand
import ErrandRedis

extension BenchStage {
    /// What a queue of the benchmark may have, and the ceilings' own counter.
    private static let parts: [String] =
        (0...9).map { "ready:\($0)" } + [
            "body", "suspects", "parked", "scheduled", "retrying", "dead", "sessions", "names", "named", "running",
            "next", "stops", "failures", "crashes", "alone", "errors", "progress", "checkpoints", "stand", "place",
            "gone", "idle", "ended", "ended:old", "history", "history:order", "stream", "counters", "seq", "settings",
            "ceiling",
        ]

    /// Removes a queue with all that is in it. Its keys are named one by one: nothing else of the server is touched.
    func remove(_ queue: String) async throws {
        let key = KeySpace.key(of: queue)
        let sessions = try await broker.command(.command("ZRANGE", key + ":sessions", "0", "-1")).elements ?? []
        // Those of workers that had to be killed.
        let left = sessions.compactMap(\.text).flatMap { ["session:\($0)", "claims:\($0)"] }
        let keys = (Self.parts + left).map { "\(key):\($0)" }
        do throws(BrokerError) { _ = try await broker.command(Self.words("UNLINK", keys)) } catch {
            guard [.notPermitted, .refused].contains(error.code) else { throw error }
            // What Errand itself may do frees many jobs piece by piece.
            while try await broker.clear(queue) > 0 {}
            _ = try await broker.command(Self.words("DEL", keys))
        }
        _ = try await broker.command(.command("SREM", "errand:queues", queue))
    }

    private static func words(_ command: String, _ keys: [String]) -> CommandWriter {
        var words = CommandWriter()
        words.begin(1 + keys.count)
        words.add(command)
        for key in keys { words.add(key) }
        return words
    }
}
