import Errand
import ErrandRedis
import TestSupport
import Testing

/// A push dispatches its job to a session that listens, even among many idle sessions that do not, such as killed ones.
struct RedisDispatchTests {
    private let server: RedisServer
    private let broker: RedisBroker
    private let key = "errand:{default}:"

    init() throws {
        server = try RedisServer()
        broker = try BrokenScripts.broker(on: server)
    }

    /// An idle session that accepts direct dispatch.
    private func wait(_ id: String) async throws -> Session {
        let session = FullQueue.session(id)
        try await broker.register(session, on: "default")
        var call = Calls.exchange(session, 1, [], wanted: 1)
        call.acceptsDirectDispatch = true
        #expect(try await broker.exchange(call, on: "default").claims == [])
        return session
    }

    private func listen(_ session: Session) async throws -> any Subscription {
        let subscription = broker.wakeUps(for: session, on: ["default"]) { _ in }
        try await eventually("it listens") {
            try server.run("PUBSUB", "NUMSUB", key + "wakeups:" + session.id).hasSuffix("\n1")
        }
        return subscription
    }

    /// Among so many sessions that do not listen, the one that does is seldom tried first.
    @Test func aSessionThatDoesNotListenTakesNoJobFromOneThatDoes() async throws {
        defer { broker.close() }
        for round in 0..<4 {
            for number in 0..<12 { _ = try await wait("deaf-\(round)-\(10 + number)") }
            let listening = try await wait("listening-\(round)")
            let subscription = try await listen(listening)
            defer { subscription.cancel() }
            _ = try await broker.push([OperationDescription("work", id: "job-\(round)").makeEnvelope()], to: "default")
            #expect(try server.run("HKEYS", key + "claims:" + listening.id) == "job-\(round)")
            #expect(try server.run("EXISTS", key + "ready:5") == "0")
        }
    }

    @Test(arguments: [nil, "name"]) func aJobBehindOthersIsNotDispatched(name: String?) async throws {
        defer { broker.close() }
        let subscription = try await listen(try await wait("waiting-one"))
        defer { subscription.cancel() }
        // Another program has put it there, so no session was woken.
        try server.run("RPUSH", key + "ready:5", "other")
        let job = try OperationDescription("work", name: name, unique: name == nil ? .ignore : .drop, id: "job")
        _ = try await broker.push([job.makeEnvelope()], to: "default")
        #expect(try server.run("EXISTS", key + "claims:waiting-one") == "0")
        #expect(try server.run("LRANGE", key + "ready:5", "0", "-1") == "other\njob")
    }

    /// What keeps a job from being dispatched: jobs of other lists come first, or a quarantined one has to run alone, or the
    /// queue's rule has to be asked.
    @Test(
        arguments: [
            ["RPUSH", "ready:3", "other"], ["RPUSH", "ready:7", "other"], ["RPUSH", "quarantined", "other"],
            ["HSET", "unroutable", "other", "1"], ["ZADD", "backlog", "1", "5:tenant"],
            ["HSET", "runtime", "quarantine_owner", "another"], ["HSET", "flow", "", "at_once=5"],
            ["HSET", "flow", "", "rate=5/1000"],
        ],
        [nil, "name"]
    ) func aJobIsNotDispatchedPast(obstacle: [String], name: String?) async throws {
        defer { broker.close() }
        let subscription = try await listen(try await wait("waiting-one"))
        defer { subscription.cancel() }
        // As if another program had done so, since no session was woken.
        try server.run([obstacle[0], key + obstacle[1]] + obstacle.dropFirst(2))
        let job = try OperationDescription("work", name: name, unique: name == nil ? .ignore : .drop, id: "job")
        _ = try await broker.push([job.makeEnvelope()], to: "default")
        #expect(try server.run("EXISTS", key + "claims:waiting-one") == "0")
        #expect(try server.run("LRANGE", key + "ready:5", "0", "-1") == "job")
    }

    @Test func aJobWithAnExpiryIsNotDispatched() async throws {
        defer { broker.close() }
        let subscription = try await listen(try await wait("waiting-one"))
        defer { subscription.cancel() }
        let job = try OperationDescription("work", expiresIn: .seconds(60), id: "job")
        _ = try await broker.push([job.makeEnvelope()], to: "default")
        #expect(try server.run("EXISTS", key + "claims:waiting-one") == "0")
    }

    @Test func withoutAListenerTheJobStaysReady() async throws {
        defer { broker.close() }
        let sessions = [try await wait("deaf-one"), try await wait("deaf-two")]
        _ = try await broker.push([OperationDescription("work", id: "job").makeEnvelope()], to: "default")
        let status = try await broker.status(of: "default").queue
        #expect(status.ready == 1 && status.running == 0)
        for (number, session) in sessions.enumerated() {
            let answer = try await broker.exchange(Calls.exchange(session, 2, [], wanted: 1), on: "default")
            #expect(answer.claims.map(\.id) == (number == 0 ? ["job"] : []), "by its own call")
        }
    }
}
