import Errand
import TestSupport
import Testing

@testable import ErrandRedis

/// A message on the channel of events has at most 32 KiB, however many events a call has and however long one is.
struct EventSizeTests {
    private static let most = 32 << 10

    private let server: RedisServer
    private let broker: RedisBroker
    private let listener = EventListener()
    private let session = FullQueue.session("session-1")

    init() throws {
        server = try RedisServer()
        broker = try BrokenScripts.broker(on: server)
    }

    private func pushMany() async throws -> [String] {
        let ids = (0..<400).map { "job-\($0)" }
        let jobs = try ids.map { try OperationDescription("work", id: $0).makeEnvelope() }
        _ = try await broker.push(jobs, to: "default")
        return ids
    }

    private func expectEach(_ ids: [String], _ kind: String) async throws {
        try await eventually("all events arrive") { listener.events.count >= ids.count }
        let (events, sizes) = (listener.events, listener.messages.map(\.count))
        #expect(events.map(\.id) == ids && events.allSatisfy { $0.event == kind })
        #expect(sizes.count > 2 && sizes.allSatisfy { $0 <= Self.most }, "\(sizes)")
    }

    @Test func eventsOfManyClearedJobsTakeSeveralMessages() async throws {
        defer { broker.close() }
        let ids = try await pushMany()
        let subscriber = try await listener.listen(to: broker.address)
        defer { subscriber.cancel() }
        #expect(try await broker.clear("default") == 400)
        try await expectEach(ids, "cancelled")
    }

    @Test func eventsOfManyFinishedJobsTakeSeveralMessages() async throws {
        defer { broker.close() }
        let ids = try await pushMany()
        try await broker.register(session, on: "default")
        let claims = try await broker.exchange(Calls.exchange(session, 1, [], wanted: 400), on: "default").claims
        let reports = try Calls.finishes(of: claims)
        let subscriber = try await listener.listen(to: broker.address)
        defer { subscriber.cancel() }
        _ = try await broker.exchange(Calls.exchange(session, 2, reports, wanted: 0), on: "default")
        try await expectEach(ids, "finished")
    }

    /// Lets a job with the longest name fail, whose characters take six bytes each, and returns the events.
    private func fail(with error: String, _ name: String) async throws -> [JobEvent] {
        let job = try OperationDescription("work", name: name, id: "job").makeEnvelope()
        _ = try await broker.push([job], to: "default")
        try await broker.register(session, on: "default")
        let call = Calls.exchange(session, 1, [], wanted: 1)
        let claim = try #require(try await broker.exchange(call, on: "default").claims.first)
        let subscriber = try await listener.listen(to: broker.address)
        defer { subscriber.cancel() }
        let report = OutcomeReport(
            id: "job",
            token: claim.token,
            verb: .failed,
            attempt: 1,
            fragment: try JobEnvelope.read(stored: claim.body).fragment,
            error: error
        )
        _ = try await broker.exchange(Calls.exchange(session, 2, [report], wanted: 0), on: "default")
        try await eventually("they arrive") { listener.events.count >= 2 }
        #expect(listener.messages.allSatisfy { $0.count <= Self.most })
        #expect(try await broker.inspect(["job"], on: "default")[0]?.lastError == listener.events.last?.error)
        return listener.events
    }

    @Test func anEventThatIsTooLongHasNeitherNameNorError() async throws {
        defer { broker.close() }
        let name = String(repeating: "\u{1}", count: 1024)
        let error = String(repeating: "\u{1}", count: OutcomeReport.mostErrorBytes)
        let events = try await fail(with: error, name)
        #expect(events.map(\.event) == ["failed", "dead"])
        for event in events {
            #expect(event.id == "job" && event.error == "too long for an event")
            #expect(event.operation == nil && event.name == nil && event.queue == "default" && event.attempt == 1)
        }
    }

    @Test func anEventThatFitsIsPublishedUnchanged() async throws {
        defer { broker.close() }
        let name = String(repeating: "\u{1}", count: 1024)
        let error = String(repeating: "\u{1}", count: 4200)
        let events = try await fail(with: error, name)
        #expect(events.map(\.event) == ["failed", "dead"])
        #expect(events.allSatisfy { $0.error == error && $0.name == name && $0.operation == "work" })
    }
}
