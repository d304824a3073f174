import Errand
import TestSupport
import Testing

/// `errand-producer push --wait`.
@Suite struct ProducerWaitTests {
    private let server: RedisServer

    init() throws { server = try RedisServer() }

    private func start(_ arguments: String...) throws -> RunningExecutable {
        try RunningExecutable(
            .producer,
            ["push", "work", "--id", "one"] + arguments,
            environment: ["ERRAND_REDIS_URL": server.url]
        )
    }

    /// Waits for the producer's receipt and subscription.
    private func awaitWatcher() async throws {
        try await until("a subscriber exists") {
            try server.run("PUBSUB", "NUMSUB", "errand:{default}:events").hasSuffix("1")
        }
    }

    @Test(arguments: ["--wait", "--wait=1m"])
    func printsTheResultWhenFinished(_ wait: String) async throws {
        let running = try start(wait)
        try await awaitWatcher()
        let desk = try await Desk(server)
        try await desk.work(.finished, result: "a\u{0}b\n")
        let output = await running.end()
        #expect(output.status == 0, "\(output.error)")
        #expect(output.bytes == Array("a\u{0}b\n".utf8))
        #expect(output.error.contains("accepted one"))
    }

    @Test func takesADurationAfterASpace() async throws {
        let running = try start("--wait", "1m", "--json")
        try await awaitWatcher()
        let desk = try await Desk(server)
        try await desk.work(.finished, result: "ok")
        let output = await running.end()
        #expect(output.status == 0, "\(output.error)")
        let expected: [String: JSON] = [
            "id": "one", "queue": "default", "outcome": "accepted", "holder": nil, "state": "finished", "result": "ok",
            "error": nil,
        ]
        #expect(try output.object == expected)
    }

    @Test func aDeadJobIsAnUnsuccessfulEnd() async throws {
        let running = try start("--wait")
        try await awaitWatcher()
        let desk = try await Desk(server)
        try await desk.work(.failed, error: "no such picture")
        let output = await running.end()
        #expect(output.status == 1)
        #expect(output.bytes.isEmpty)
        #expect(output.error.contains("dead: no such picture"))
    }

    @Test func aCancelledJobIsAnUnsuccessfulEnd() async throws {
        let running = try start("--wait")
        try await awaitWatcher()
        _ = try await Executable.console.run(["job", "cancel", "one"], on: server)
        let output = await running.end()
        #expect(output.status == 1)
        #expect(output.error.contains("is cancelled"))
    }

    @Test func reportsThatTheTimeIsOver() async throws {
        let output = try await Executable.producer.run(["push", "work", "--wait=100ms"], on: server)
        #expect(output.status == 75)
        #expect(output.bytes.isEmpty)
        #expect(output.error.contains("it is still ready"))
    }

    @Test func findsAnEndFromBeforeItsSubscription() async throws {
        _ = try await Executable.producer.run(["push", "work", "--id", "one"], on: server)
        let desk = try await Desk(server)
        try await desk.work(.finished, result: "early")
        let output = try await Executable.producer.run(["push", "work", "--id", "one", "--wait"], on: server)
        #expect(output.status == 0, "\(output.error)")
        #expect(output.text == "early")
    }

    @Test func waitsForTheHolderWhenDropped() async throws {
        let unique = ["--unique", "drop", "--name", "n"]
        _ = try await Executable.producer.run(["push", "work", "--id", "holder"] + unique, on: server)
        let running = try start("--unique", "drop", "--name", "n", "--wait")
        try await awaitWatcher()
        let desk = try await Desk(server)
        try await desk.work(.finished, result: "the holder's")
        let output = await running.end()
        #expect(output.text == "the holder's")
    }

    @Test func keepsWaitingWhileTheBrokerIsAway() async throws {
        let durable = try RedisServer(durable: true)
        let running = try RunningExecutable(
            .producer,
            ["push", "work", "--wait"],
            environment: ["ERRAND_REDIS_URL": durable.url]
        )
        try await until("a subscriber exists") {
            try durable.run("PUBSUB", "NUMSUB", "errand:{default}:events").hasSuffix("1")
        }
        durable.kill(9)
        try durable.start()
        let desk = try await Desk(durable)
        try await desk.work(.finished, result: "after all")
        let output = await running.end()
        #expect(output.status == 0, "\(output.error)")
        #expect(output.text == "after all")
    }
}
