import Synchronization
import Testing

@testable import Errand

/// A clock that stands still until it is moved.
private final class StillClock: Sendable {
    private let time = Mutex<Int64>(1_795_215_724_000)
    var now: Int64 { time.withLock { $0 } }
    func advance(_ milliseconds: Int64) { time.withLock { $0 += milliseconds } }
}

/// Decisions by the clock, to the millisecond; the conformance suite runs in real time and cannot be so exact.
@Suite("MemoryBroker and time")
struct MemoryBrokerTimeTests {
    private let clock = StillClock()
    private let broker: MemoryBroker
    private let queue = "default"

    init() {
        let clock = clock
        broker = MemoryBroker { clock.now }
    }

    private func push(_ id: String, delay: Int64 = 0, timeout: Duration? = nil) async throws -> Receipt.Outcome? {
        let due = delay == 0 ? nil : clock.now + delay
        let job = try OperationDescription("work", timeout: timeout, notBefore: due, id: id).makeEnvelope()
        return try await broker.push([job], to: queue).first?.outcome
    }

    private func session(_ id: String, lease: Duration = .seconds(10)) async throws -> Session {
        let session = Session(
            id: id,
            host: "host",
            pid: 1,
            concurrency: 1,
            queues: [queue],
            lease: lease,
            operations: ["work": OperationDefaults(timeout: .seconds(5), retries: 1)]
        )
        try await broker.register(session, on: queue)
        return session
    }

    private func exchange(
        _ session: Session,
        _ call: Int,
        _ reports: [OutcomeReport] = []
    ) async throws -> ExchangeReply {
        let exchange = Exchange(
            session: session,
            call: call,
            reports: reports,
            wanted: 10,
            freeSlots: 1,
            begun: 0,
            longestWait: .seconds(2),
            stopGrace: .seconds(1)
        )
        return try await broker.exchange(exchange, on: queue)
    }

    @Test("a job is due at its time and not one millisecond earlier")
    func due() async throws {
        _ = try await push("a", delay: 1000)
        clock.advance(999)
        #expect(try await broker.promote(on: queue) == Promotion(promoted: 0, nextDue: 1))
        clock.advance(1)
        #expect(try await broker.promote(on: queue) == Promotion(promoted: 1, nextDue: nil))
    }

    @Test("a lease ends on time, and a heartbeat extends it")
    func lease() async throws {
        _ = try await session("session-live", lease: .seconds(60))
        let short = try await session("session-short")
        _ = try await push("a", timeout: .seconds(60))
        #expect(try await exchange(short, 1).claims.count == 1)
        clock.advance(5000)
        let beat = try broker.change(queue) { queue throws(BrokerError) in try queue.beat(of: short, begun: 0) }
        #expect(beat == Beat(claims: 1, stops: []))
        clock.advance(9999)
        #expect(try await broker.recover(on: queue) == Recovery(recovered: 0, hasMore: false))
        clock.advance(1)
        let recovery = try await broker.recover(on: queue)
        #expect(recovery.recovered == 1 && recovery.hasMore)
        #expect(try await broker.status(of: queue).queue.totals["recovered"] == 1)
    }

    @Test("a hard deadline is wait, timeout and grace after the claim", arguments: [nil, Duration.seconds(20)])
    func hardDeadline(timeout: Duration?) async throws {
        let session = try await session("session-long", lease: .seconds(3600))
        _ = try await push("a", timeout: timeout)
        #expect(try await exchange(session, 1).claims.count == 1)
        clock.advance(timeout == nil ? 8000 : 23_000)
        #expect(try await broker.recover(on: queue).recovered == 0)
        clock.advance(1)
        #expect(try await broker.recover(on: queue).recovered == 1)
        // Retried once, after 15 s, as its session declares.
        #expect(try await broker.promote(on: queue) == Promotion(promoted: 0, nextDue: 15_000))
        clock.advance(15_000)
        #expect(try await broker.promote(on: queue).promoted == 1)
        #expect(try await exchange(session, 2).claims.map(\.attempt) == [2])
        clock.advance(30_000)
        #expect(try await broker.recover(on: queue).recovered == 1)
        #expect(try await broker.status(of: queue).queue.dead == 1)
    }

    @Test("after a gap of more than half a lease, recovery waits for a lease")
    func grace() async throws {
        let first = try await session("session-first")
        _ = try await push("a")
        let claim = try #require(try await exchange(first, 1).claims.first)
        clock.advance(60_000)
        _ = try await session("session-second")
        clock.advance(9999)
        #expect(try await broker.recover(on: queue) == Recovery(recovered: 0, hasMore: false))
        let report = OutcomeReport(id: "a", token: claim.token, verb: .finished, attempt: 1)
        #expect(try await exchange(first, 2, [report]).accepted == [true])
    }

    @Test("the grace ends after a lease")
    func graceEnds() async throws {
        let first = try await session("session-first")
        _ = try await push("a")
        _ = try await exchange(first, 1)
        clock.advance(60_000)
        let second = try await session("session-second", lease: .seconds(20))
        for pause: Int64 in [5000, 5000, 5000, 4999] {
            clock.advance(pause)
            _ = try broker.change(queue) { queue throws(BrokerError) in try queue.beat(of: second, begun: 0) }
        }
        #expect(try await broker.recover(on: queue).recovered == 0)
        clock.advance(1)
        #expect(try await broker.recover(on: queue).recovered == 1)
    }

    @Test("ids are remembered for at least the window, and not forever")
    func remembered() async throws {
        _ = try await push("a")
        _ = try await broker.cancel(["a"], on: queue)
        clock.advance(59_999)
        #expect(try await push("a") == .exists)
        clock.advance(60_001)
        #expect(try await push("a") == .accepted)
    }

    @Test("tokens still grow after the clock is set back")
    func clockSetBack() async throws {
        let session = try await session("session-long", lease: .seconds(3600))
        _ = try await push("a")
        let first = try #require(try await exchange(session, 1).claims.first)
        clock.advance(-1_000_000)
        _ = try await push("b")
        let second = try #require(try await exchange(session, 2).claims.first)
        #expect(second.token > first.token)
        #expect(try await broker.status(of: queue).queue.oldestReadyMilliseconds == 0)
        #expect(try await broker.recover(on: queue).recovered == 0)
    }

    @Test("numbers at the ends of their types trap nothing", arguments: [Int.min, -1, .max])
    func wildNumbers(number: Int) async throws {
        let session = try await session("session-long")
        _ = try await push("a")
        let claim = try #require(try await exchange(session, 1).claims.first)
        let report = OutcomeReport(
            id: "a",
            token: claim.token,
            verb: .failed,
            attempt: number,
            milliseconds: number,
            retryDelay: number
        )
        #expect(try await exchange(session, 2, [report]).accepted == [true])
        #expect(try await broker.jobs(in: .retrying, on: queue, from: number, count: number).jobs.count <= 1)
        _ = try await broker.promote(on: queue)
        #expect(try await broker.audit(queue, repair: false) == [])
    }
}
