import Errand
import TestSupport
import Testing

/// What becomes of a run that was told to stop goes by who told it first, and by what its handler had done by then.
@Suite("Runs that are told to stop", .timeLimit(.minutes(6)))
struct ToldToStopTests {
    /// Who tells a run to stop.
    enum Request: CaseIterable { case cancellation, departure }

    private let shop = Workshop()
    private var held: HeldJobs { shop.held }

    @Test("work that was done in spite of the request is done", arguments: Request.allCases)
    func finishesInSpite(of request: Request) async throws {
        try await shop.open(shop.worker([held.operation(leavesWhenTold: true)])) { work in
            try await shop.push("a")
            try await shop.begin()
            switch request {
            case .cancellation: _ = try await shop.broker.memory.cancel(["a"], on: Workshop.queue)
            case .departure: work.cancel()
            }
            try await eventually("it has ended") { try await shop.status().running == 0 }
            #expect(held.cancelled == ["a"])
            #expect(try await shop.total("finished") == 1)
            #expect(try await shop.total("cancelled") + shop.total("released") == 0)
        }
    }

    @Test("a handler of a session that is lost is told to stop")
    func stopsWithItsSession() async throws {
        try await shop.open(shop.worker([held.operation(leavesWhenTold: true)])) { _ in
            try await shop.push("a")
            try await shop.begin()
            shop.broker.tell(Workshop.queue, .failure(BrokerError(.sessionLost, "the session is not registered")))
            try await eventually("its task is cancelled", within: .seconds(20)) { held.cancelled == ["a"] }
            #expect(held.begun.first?.isCancelled == true)
        }
    }

    @Test("a run that timed out has timed out, though its worker leaves before it has stopped")
    func staysTimedOut() async throws {
        // Nothing is given up while it stops.
        let configuration = WorkerConfiguration(stopGrace: .seconds(60))
        try await shop.open(shop.worker([held.operation(timeout: .milliseconds(50))], configuration)) { work in
            try await shop.push("a")
            try await eventually("its time is over") { held.begun.first?.isCancelled == true }
            // Tells every run to stop before it returns.
            work.cancel()
            held.letGo()
            try await work.value
            #expect(try await shop.total("timed_out") == 1)
            #expect(try await shop.total("released") == 0)
        }
    }

    @Test("a late beat that names an older claim of its job stops no run")
    func ignoresOlderClaims() async throws {
        try await shop.open(shop.worker([held.operation()])) { _ in
            try await shop.push("a")
            try await shop.begin()
            let job = try #require(held.begun.first)
            tellToStop(job.id, job.token - 1)
            #expect(!job.isCancelled)
            tellToStop(job.id, job.token)
            #expect(job.isCancelled)
        }
    }

    /// A beat is heard to its end before this returns.
    private func tellToStop(_ id: String, _ token: Token) {
        shop.broker.tell(Workshop.queue, .success(Beat(claims: 1, stops: [.init(id: id, token: token)])))
    }
}
