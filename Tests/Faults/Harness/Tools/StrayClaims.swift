import Errand
import ErrandRedis
import TestSupport

extension ScenarioContext {
    /// Claims that their worker does not know, as after a rollback of the broker.
    private static let strayClaims = """
        for i = 3, #ARGV do
          redis.call('LREM', KEYS[1] .. ':ready:5', 1, ARGV[i])
          redis.call('HSET', KEYS[1] .. ':claims:' .. ARGV[1], ARGV[i], ARGV[2])
        end
        """

    /// Claims some waiting jobs for a worker without its knowledge; it must notice by its heartbeats, and release them.
    ///
    /// - Returns: The jobs' ids.
    func straysClaimed(
        by worker: Program,
        on server: RedisServer,
        via broker: RedisBroker? = nil
    ) async throws -> [String] {
        guard let session = sessions(of: worker).last else { throw TestFailure("the worker has no session") }
        let broker = try broker ?? console
        // Paused, so that no worker claims them properly first.
        try await insist { try await broker.configure(Self.queue, QueueSettings(isPaused: true)) }
        let ids = try await push(4, "mark", via: broker)
        let claim = "1:\(Self.now + 600_000)"
        try server.run(["EVAL", Self.strayClaims, "1", KeySpace.key(of: Self.queue), session, claim] + ids)
        try await insist { try await broker.configure(Self.queue, QueueSettings(isPaused: false)) }
        return ids
    }
}
