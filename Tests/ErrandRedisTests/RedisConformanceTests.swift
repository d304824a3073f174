import Errand
import ErrandConformance
import ErrandRedis
import Logging
import TestSupport
import Testing

/// The conformance suite on Redis.
@Suite("RedisBroker conforms")
struct RedisConformanceTests {
    /// One server for all cases; each uses a queue of its own.
    private static let server = Result { try RedisServer() }

    @Test("conforms", .timeLimit(.minutes(6)), arguments: ConformanceCase.casesOfJobs)
    func conforms(_ conformanceCase: ConformanceCase) async throws { try await run(conformanceCase) }

    @Test("groups conform", .timeLimit(.minutes(6)), arguments: ConformanceCase.casesOfGroups)
    func groupsConform(_ conformanceCase: ConformanceCase) async throws { try await run(conformanceCase) }

    @Test("workflows conform", .timeLimit(.minutes(6)), arguments: ConformanceCase.casesOfWorkflows)
    func workflowsConform(_ conformanceCase: ConformanceCase) async throws { try await run(conformanceCase) }

    private func run(_ conformanceCase: ConformanceCase) async throws {
        let address = try RedisAddress(url: Self.server.get().url)
        let broker = try RedisBroker(
            address,
            logger: Logger(label: "conformance"),
            overrides: BrokenScripts.overrides()
        )
        defer { broker.close() }
        try await conformanceCase.run(on: broker)
    }
}
