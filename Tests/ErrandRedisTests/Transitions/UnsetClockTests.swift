import Errand
import ErrandRedis
import TestSupport
import Testing

/// A server whose clock is not set yet when it accepts its first jobs, as on a board without a battery.
struct UnsetClockTests {
    @Test func jobsPushedBeforeTheClockWasSetAreReadable() async throws {
        let server = try RedisServer()
        let early = try BrokenScripts.broker(
            on: server,
            with: "local clock = { '86400', '0' }",
            for: "local clock = call('TIME')"
        )
        let names: [String?] = [nil, "name"]
        let jobs = try names.map { name in
            try OperationDescription("work", name: name, unique: name == nil ? .ignore : .drop, id: name ?? "plain")
        }
        _ = try await early.push(try jobs.map { try $0.makeEnvelope() }, to: "default")
        #expect(try server.run("HGET", "errand:{default}:body", "plain").hasPrefix("00000864000001i5;"))
        early.close()

        let broker = try BrokenScripts.broker(on: server)
        defer { broker.close() }
        let session = FullQueue.session("session-1")
        try await broker.register(session, on: "default")
        var calls = Calls(broker: broker, session: session)
        let claims = try await calls.claim(2)
        #expect(try claims.map { try JobEnvelope.read(stored: $0.body).description.id } == ["plain", "name"])
        for claim in claims { try await calls.report(claim, .finished) }
        #expect(try await broker.status(of: "default").queue.totals["finished"] == 2)
        #expect(try await broker.audit("default", repair: false) == [])
    }
}
