import Errand
import ErrandRedis
import TestSupport
import Testing

/// `errand job edit` with a lost reply, and its repetition.
@Suite struct ConsoleJobEditAgainTests {
    private let server: RedisServer

    init() throws { server = try RedisServer() }

    private func makeDead() async throws {
        let description = #"{"operation":"work","id":"one","queue":"images","arguments":{"path":"a.jpg"}}"#
        let output = try await Executable.producer.run(["push", "--from", "-"], on: server, input: description)
        #expect(output.status == 0, "\(output.error)")
        let desk = try await Desk(server, queues: ["images"])
        try await desk.work(.failed, error: "no such file", queue: "images")
    }

    private func edit(_ picture: String, via url: String) async throws -> Output {
        let description = #"{"operation":"work","queue":"images","arguments":{"path":"\#(picture)"}}"#
        return try await Executable.console.run(
            ["job", "edit", "one", "--queue", "images", "--description", "-", "--json"],
            input: Array(description.utf8),
            environment: ["ERRAND_REDIS_URL": url]
        )
    }

    private func ids() async throws -> Set<String> {
        let output = try await Executable.console.run(["jobs", "--json", "--scan", "100000"], on: server)
        return Set(try output.objects.compactMap { $0["id"]?.string })
    }

    @Test func aLostReplyIsNoRejectionAndARepetitionPushesNoSecondJob() async throws {
        try await makeDead()
        let proxy = try ChaosProxy(to: server)
        defer { proxy.close() }
        proxy.treat { $0.contains("b.jpg") ? .loseAnswer : .pass }
        let lost = try await edit("b.jpg", via: proxy.url)
        #expect(lost.status == 75, "\(lost.error)")
        #expect(lost.error.contains("may or may not have been accepted"), "\(lost.error)")
        #expect(try lost.object["outcome"] == "unknown")
        let id = try #require(try lost.object["id"]?.string)
        #expect(try await ids() == ["one", id])

        let again = try await edit("b.jpg", via: server.url)
        #expect(again.status == 0, "\(again.error)")
        #expect(try again.object["outcome"] == "exists")
        #expect(try again.object["id"]?.string == id)
        #expect(try await ids() == [id])
    }

    @Test func aJobForWhichAWorkflowWaitsIsNotEdited() async throws {
        let jobs = #"{"a":{"operation":"work","retries":0},"b":{"operation":"work","after":["a"]}}"#
        let flow = #"{"workflow":"flow","queue":"images","jobs":\#(jobs)}"#
        let pushed = try await Executable.producer.run(["push", "--workflow", "-", "--json"], on: server, input: flow)
        #expect(pushed.status == 0, "\(pushed.error)")
        let desk = try await Desk(server, queues: ["images"])
        try await desk.work(.failed, error: "no such file", queue: "images")
        let before = try await ids()
        let id = try #require(before.sorted().first)
        let edited = try await Executable.console.run(
            ["job", "edit", id, "--queue", "images", "--description", "-"],
            input: Array(#"{"operation":"work","queue":"images"}"#.utf8),
            environment: ["ERRAND_REDIS_URL": server.url]
        )
        #expect(edited.status == 1)
        #expect(edited.error.contains("waits for \(id), and a new job would have no place in it"), "\(edited.error)")
        #expect(try await ids() == before && before.count == 2)
    }

    @Test func aJobThatHasTakenAPlaceInAWorkflowIsNotEdited() async throws {
        let one = #"{"operation":"work","id":"one","queue":"images","unique":"drop","name":"scan","retries":0}"#
        let plain = try await Executable.producer.run(["push", "--from", "-"], on: server, input: one)
        #expect(plain.status == 0, "\(plain.error)")
        let jobs = #"{"a":{"operation":"work","unique":"drop","name":"scan"},"b":{"operation":"work","after":["a"]}}"#
        let flow = #"{"workflow":"flow","queue":"images","jobs":\#(jobs)}"#
        let pushed = try await Executable.producer.run(["push", "--workflow", "-", "--json"], on: server, input: flow)
        #expect(pushed.status == 0, "\(pushed.error)")
        let desk = try await Desk(server, queues: ["images"])
        try await until("it has the place of the job that was dropped") {
            _ = try await desk.broker.promote(on: "images")
            return try await desk.broker.inspect(["one"], on: "images").first??.workflows.count == 1
        }
        try await desk.work(.failed, error: "no such file", queue: "images")
        let edited = try await edit("b.jpg", via: server.url)
        #expect(edited.status == 1)
        #expect(edited.error.contains("waits for one, and a new job would have no place in it"), "\(edited.error)")
    }

    @Test func anotherChangeIsAnotherJob() async throws {
        try await makeDead()
        let proxy = try ChaosProxy(to: server)
        defer { proxy.close() }
        proxy.treat { $0.contains("b.jpg") ? .loseAnswer : .pass }
        let first = try #require(try await edit("b.jpg", via: proxy.url).object["id"]?.string)
        let other = try await edit("c.jpg", via: server.url)
        #expect(try other.object["outcome"] == "accepted")
        let second = try #require(try other.object["id"]?.string)
        #expect(first != second)
        #expect(try await ids() == [first, second])
    }
}
