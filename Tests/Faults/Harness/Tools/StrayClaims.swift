import Errand
import ErrandRedis
import TestSupport

extension ScenarioContext {
    /// What a broker may keep that went back to an older state: claims of which the worker that holds them does not know.
    private static let strayClaims = """
        for i = 3, #ARGV do
          redis.call('LREM', KEYS[1] .. ':ready:5', 1, ARGV[i])
          redis.call('HSET', KEYS[1] .. ':claims:' .. ARGV[1], ARGV[i], ARGV[2])
        end
        """

    /// Gives some waiting jobs to a worker that never hears of it; it must notice by its heartbeats, and give them back.
    ///
    /// - Returns: the jobs' ids.
    func straysClaimed(
        by worker: Program,
        on server: RedisServer,
        via broker: RedisBroker? = nil
    ) async throws -> [String] {
        guard let session = sessions(of: worker).last else { throw TestFailure("the worker has no session") }
        let broker = try broker ?? console
        // Paused, so that nobody claims them in the proper way first.
        try await insist { try await broker.configure(Self.queue, QueueSettings(isPaused: true)) }
        let ids = try await push(4, "mark", via: broker)
        let claim = "1:\(Self.now + 600_000)"
        try server.run(["EVAL", Self.strayClaims, "1", KeySpace.key(of: Self.queue), session, claim] + ids)
        try await insist { try await broker.configure(Self.queue, QueueSettings(isPaused: false)) }
        return ids
    }
}
