import Errand
import TestSupport
import Testing

/// The outcome of a run that is told to stop depends on the first reason and on what its handler has done by then.
@Suite("Stop requests", .timeLimit(.minutes(6)))
struct StopRequestTests {
    /// The reasons to stop a run.
    enum Request: CaseIterable { case cancellation, departure }

    private let fixture = WorkerFixture()
    private var held: HeldJobs { fixture.held }

    @Test("work that finished despite the stop request counts", arguments: Request.allCases)
    func finishesInSpite(of request: Request) async throws {
        try await fixture.open(fixture.worker([held.operation(leavesWhenTold: true)])) { work in
            try await fixture.push("a")
            try await fixture.begin()
            switch request {
            case .cancellation: _ = try await fixture.broker.memory.cancel(["a"], on: WorkerFixture.queue)
            case .departure: work.cancel()
            }
            try await eventually("it has ended") { try await fixture.status().running == 0 }
            #expect(held.cancelled == ["a"])
            #expect(try await fixture.total("finished") == 1)
            #expect(try await fixture.total("cancelled") + fixture.total("released") == 0)
        }
    }

    @Test("a handler of a lost session is told to stop")
    func stopsWithItsSession() async throws {
        try await fixture.open(fixture.worker([held.operation(leavesWhenTold: true)])) { _ in
            try await fixture.push("a")
            try await fixture.begin()
            fixture.broker.tell(
                WorkerFixture.queue,
                .failure(BrokerError(.sessionLost, "the session is not registered"))
            )
            try await eventually("its task is cancelled", within: .seconds(20)) { held.cancelled == ["a"] }
            #expect(held.begun.first?.isCancelled == true)
        }
    }

    @Test("a run that timed out is reported so even if its worker stops before it does")
    func staysTimedOut() async throws {
        // Nothing is released while it stops.
        let configuration = WorkerConfiguration(stopGrace: .seconds(60))
        try await fixture.open(fixture.worker([held.operation(timeout: .milliseconds(50))], configuration)) { work in
            try await fixture.push("a")
            try await eventually("its time is over") { held.begun.first?.isCancelled == true }
            // Tells every run to stop before it returns.
            work.cancel()
            held.letGo()
            try await work.value
            #expect(try await fixture.total("timed_out") == 1)
            #expect(try await fixture.total("released") == 0)
        }
    }

    @Test("a late heartbeat for an older claim stops no run")
    func ignoresOlderClaims() async throws {
        try await fixture.open(fixture.worker([held.operation()])) { _ in
            try await fixture.push("a")
            try await fixture.begin()
            let job = try #require(held.begun.first)
            tellToStop(job.id, job.token - 1)
            #expect(!job.isCancelled)
            tellToStop(job.id, job.token)
            #expect(job.isCancelled)
        }
    }

    /// A heartbeat is handled completely before this returns.
    private func tellToStop(_ id: String, _ token: Token) {
        fixture.broker.tell(WorkerFixture.queue, .success(Beat(claims: 1, stops: [.init(id: id, token: token)])))
    }
}
