import Synchronization
import Testing

@testable import Errand

/// The steps of a poller, without a broker, without threads, and in a time that the test chooses.
@Suite("The protocol between a worker and the broker")
struct PollerStateTests {
    struct Run: ClaimedRun {
        let id: String
        let token: Token
    }

    final class Wakes: Sendable {
        let indexes = Mutex<[Int]>([])
    }

    static let body = [UInt8]("body".utf8)
    let start = ContinuousClock.now
    let wakes = Wakes()
    let budget: SlotBudget
    var state: PollerState<Run>

    init() {
        budget = SlotBudget(concurrency: 4, weights: [1, 1])
        // The other queue has no work for now.
        _ = budget.settle(1, wanted: 0, got: 0, looked: true)
        state = Self.makeState(budget, wakes, queues: ["work"], at: start)
    }

    private static func makeState(
        _ budget: SlotBudget,
        _ wakes: Wakes,
        queues: [String],
        at start: ContinuousClock.Instant
    ) -> PollerState<Run> {
        PollerState(
            session: .forTests(queues: queues),
            limits: PollerLimits(longestPoll: .seconds(1), longestClaimWait: .seconds(10), stopGrace: .seconds(1)),
            slots: SlotShare(of: budget, at: 0) { [wakes] indexes in wakes.indexes.withLock { $0 += indexes } },
            looksAt: WakeUpTimes(since: start),
            at: start
        )
    }

    func claims(_ tokens: Range<Token>, bytes: [UInt8] = body) -> [Claim] {
        tokens.map { Claim(id: "job-\($0)", token: $0, attempt: 1, crashes: 0, body: bytes) }
    }

    func report(_ token: Token, _ verb: OutcomeReport.Verb = .finished) -> OutcomeReport {
        OutcomeReport(id: "job-\(token)", token: token, verb: verb, attempt: 1)
    }

    mutating func next(after time: Duration = .zero, begun: Token = 0) -> PollerStep {
        state.next(at: start + time, begun: begun)
    }

    /// Returns the call that the next step sends.
    mutating func call(
        after time: Duration = .zero,
        begun: Token = 0
    ) throws -> (exchange: Exchange, running: UnreadReply?) {
        let step = next(after: time, begun: begun)
        guard case .send(let exchange, let running) = step else { throw Unexpected(step: step) }
        return (exchange, running)
    }

    /// Returns the reply whose claims the next step makes into runs.
    mutating func run(after time: Duration = .zero) throws -> (reply: UnreadReply, thenWaits: Bool) {
        let step = next(after: time)
        guard case .run(let reply, let thenWaits) = step else { throw Unexpected(step: step) }
        return (reply, thenWaits)
    }

    private struct Unexpected: Error {
        let step: PollerStep
    }

    mutating func answer(_ call: Exchange, _ reply: ExchangeReply, after time: Duration = .zero) {
        state.answered(reply, to: call.call, at: start + time)
    }

    mutating func answer(_ call: Exchange, _ claims: [Claim] = []) {
        answer(call, ExchangeReply(accepted: call.reports.map { _ in true }, claims: claims))
    }

    mutating func begin(_ reply: UnreadReply, after time: Duration = .zero) {
        for claim in state.admitClaims(of: reply, at: start + time) {
            state.began(Run(id: claim.id, token: claim.token))
        }
    }

    /// Claims a number of jobs and makes runs of them.
    private mutating func claim(_ tokens: Range<Token>) throws {
        answer(try call().exchange, claims(tokens))
        begin(try run().reply)
    }

    // MARK: Looking for work

    @Test("a poller that finds nothing looks again after a pause, which grows")
    mutating func pauses() throws {
        answer(try call().exchange)
        guard case .wait(.milliseconds(1)) = next() else { return #expect(Bool(false), "\(next())") }
        answer(
            try call(after: .milliseconds(1)).exchange,
            ExchangeReply(accepted: [], claims: []),
            after: .milliseconds(1)
        )
        guard case .wait(.milliseconds(2)) = next(after: .milliseconds(1)) else {
            return #expect(Bool(false), "\(next())")
        }
    }

    @Test("a wake-up ends the pause")
    mutating func wakeUpEndsPause() throws {
        answer(try call().exchange)
        state.wokenUp()
        #expect(try call().exchange.call == 2)
    }

    @Test("a reply that says to go on is followed by the next call at once")
    mutating func goesOn() throws {
        answer(try call().exchange, ExchangeReply(accepted: [], claims: [], hasMore: true))
        #expect(try call().exchange.wanted == 4)
    }

    @Test("due jobs are promoted, and then asked for at once")
    mutating func promotes() throws {
        answer(try call().exchange, ExchangeReply(accepted: [], claims: [], hasDueJobs: true))
        guard case .promote = next() else { return #expect(Bool(false), "\(next())") }
        state.promoted(true)
        #expect(try call().exchange.call == 2)
    }

    @Test("no step but waiting while a call is not answered, and a second reply to it changes nothing")
    mutating func answersOnce() throws {
        let call = try call().exchange
        guard case .wait = next() else { return #expect(Bool(false), "\(next())") }
        answer(call, claims(1..<3))
        answer(call, claims(3..<5))
        #expect(try run().reply.claims.map(\.token) == [1, 2])
    }

    // MARK: Claims

    @Test("few jobs run before the next call, which waits a moment for the first of them")
    mutating func fewRunFirst() throws {
        answer(try call().exchange, claims(1..<3))
        let (reply, thenWaits) = try run()
        #expect(thenWaits && reply.claims.count == 2)
    }

    @Test("a full reply, and a large one, is made into runs without a wait")
    mutating func doesNotWait() throws {
        answer(try call().exchange, claims(1..<5))
        #expect(try run().thenWaits == false)
        state = Self.makeState(SlotBudget(concurrency: 4, weights: [1]), wakes, queues: ["work"], at: start)
        answer(try call().exchange, claims(1..<2, bytes: [UInt8](repeating: 65, count: 65 * 1024)))
        #expect(try call().running?.claims.count == 1)
    }

    @Test("the call beside which jobs begin says that they have begun")
    mutating func saysBegun() throws {
        budget.note(.milliseconds(1))
        let first = try call().exchange
        #expect(first.wanted == 84 && first.freeSlots == 4 && first.begun == 0)
        answer(first, claims(1..<21))
        let (second, running) = try call(begun: 0)
        #expect(running?.claims.count == 20 && running?.begun == 1)
        #expect(second.begun == 1)
    }

    @Test("claims that have waited too long are released, and so are those that reach a draining worker")
    mutating func releases() throws {
        answer(try call().exchange, claims(1..<3))
        begin(try run().reply, after: .seconds(11))
        #expect(state.reports.map(\.verb) == [.released, .released] && state.runs.isEmpty && state.known == 2)
        answer(try call().exchange, claims(3..<4))
        state.isDraining = true
        begin(try run().reply)
        #expect(state.reports.map(\.token) == [3])
    }

    // MARK: Reports

    @Test("ended runs are reported by the next call, and free their slots")
    mutating func reports() throws {
        try claim(1..<5)
        guard case .wait = next() else { return #expect(Bool(false), "all slots are taken") }
        #expect(state.ended(Run(id: "job-2", token: 2), report(2)) == .poller)
        #expect(state.ended(Run(id: "job-3", token: 3), report(3)) == .nothing)
        let call = try call().exchange
        #expect(call.reports.map(\.token) == [2, 3] && call.wanted == 2)
        #expect(state.claims.count == 4, "the broker may not have accepted the reports yet")
        answer(call)
        #expect(state.known == 2 && state.claims.count == 2)
    }

    @Test("a run that is not reported frees its slot, and wakes a queue that was refused")
    mutating func unreported() throws {
        try claim(1..<5)
        #expect(budget.grant(to: 1).wanted == 0)
        #expect(state.ended(Run(id: "job-1", token: 1), nil) == .nothing)
        #expect(wakes.indexes.withLock { $0 } == [1])
    }

    @Test("the end of an older claim does not end the newer run of its job")
    mutating func olderClaim() throws {
        try claim(1..<2)
        state.began(Run(id: "job-1", token: 9))
        _ = state.ended(Run(id: "job-1", token: 1), report(1))
        #expect(state.runs["job-1"]?.token == 9)
    }

    @Test("jobs that are only claimed for a free slot are asked for when there is one, and not before")
    mutating func awaitsFreeSlot() throws {
        budget.note(.milliseconds(1))
        let first = try call().exchange
        #expect(first.wanted > 4)
        answer(first, ExchangeReply(accepted: [], claims: claims(1..<5), awaitsFreeSlot: true))
        begin(try run().reply)
        guard case .wait = next() else { return #expect(Bool(false), "all slots are taken") }
        #expect(budget.open(1, by: 1) == [0], "another queue wakes it when it frees a slot")
        let second = try call().exchange
        #expect(second.freeSlots == 1 && second.reports.isEmpty)
    }

    // MARK: Pre-answered calls

    @Test("a push may answer the next call of an idle session with one queue")
    mutating func acceptsDispatch() throws {
        #expect(try call().exchange.acceptsDirectDispatch)
        state = Self.makeState(SlotBudget(concurrency: 4, weights: [1, 1]), wakes, queues: ["a", "b"], at: start)
        #expect(try call().exchange.acceptsDirectDispatch == false)
    }

    @Test("a dispatched job is run as the reply to the next call")
    mutating func dispatch() throws {
        answer(try call().exchange)
        #expect(hear(7, answering: 2) == nil, "the poller is about to decide itself")
        let (reply, thenWaits) = try run()
        #expect(reply.claims.map(\.token) == [7] && reply.begun == 7 && thenWaits)
        begin(reply)
        #expect(try call().exchange.call == 3)
    }

    @Test("a job that is dispatched to a waiting poller is begun by the thread that hears of it")
    mutating func dispatchWhileWaiting() throws {
        answer(try call().exchange)
        guard case .wait = next() else { return #expect(Bool(false), "it does not wait") }
        let reply = try #require(hear(7, answering: 2))
        #expect(reply.claims.map(\.token) == [7] && reply.begun == 7)
        // The claim is not a run yet: a comparison would release it, and a lost session would be followed by the next.
        for _ in 0..<2 { _ = state.heartbeatReplied(claims: 5) }
        guard case .wait(.seconds(1)) = next() else { return #expect(Bool(false), "it acts meanwhile") }
        state.isLost = true
        guard case .wait(.seconds(1)) = next() else { return #expect(Bool(false), "it leaves meanwhile") }
        (state.isLost, state.account) = (false, ClaimAccount())
        begin(reply)
        state.begunDispatched()
        guard case .wait(.milliseconds(1)) = next() else { return #expect(Bool(false), "no time for its report") }
        #expect(hear(8, answering: 3) == nil, "the poller may act at any time")
        let (second, _) = try run()
        begin(second)
        #expect(try call().exchange.call == 4)
        #expect(state.known == 2)
    }

    @Test("a worker that stops does not begin a dispatched job")
    mutating func dispatchWhileStopping() throws {
        answer(try call().exchange)
        guard case .wait = next() else { return #expect(Bool(false), "it does not wait") }
        state.isDraining = true
        #expect(hear(7, answering: 2) == nil)
    }

    private mutating func hear(_ token: Token, answering call: Int) -> UnreadReply? {
        state.wokenUp(with: DirectDispatch(call: call, claim: claims(token..<token + 1)[0], since: start), at: start)
    }

    @Test("a dispatch that answers an earlier call is dropped: that call has returned the claim")
    mutating func lateDispatch() throws {
        answer(try call().exchange)
        #expect(hear(7, answering: 1) == nil)
        #expect(try call().exchange.call == 2)
        #expect(state.known == 0)
    }

    @Test("the reports of a pre-answered call are sent again, and its job may be as old as the last reply")
    mutating func preanswered() throws {
        try claim(1..<2)
        answer(try call().exchange, ExchangeReply(accepted: [], claims: []), after: .milliseconds(5))
        _ = state.ended(Run(id: "job-1", token: 1), report(1))
        let call = try call(after: .milliseconds(900)).exchange
        #expect(call.reports.count == 1)
        let reply = ExchangeReply(accepted: [], claims: claims(2..<3), isPreanswered: true)
        answer(call, reply, after: .milliseconds(901))
        #expect(try run(after: .milliseconds(901)).reply.since == start + .milliseconds(5))
        #expect(try self.call(after: .milliseconds(902)).exchange.reports.map(\.token) == [1])
    }

    // MARK: Doubts

    @Test("claims that may differ are compared, after those of the last reply are runs")
    mutating func reconciles() throws {
        answer(try call().exchange, claims(1..<3))
        for _ in 0..<3 { _ = state.heartbeatReplied(claims: 7) }
        #expect(try run().thenWaits == false)
        guard case .reconcile(call: 1) = next() else { return #expect(Bool(false), "\(next())") }
        #expect(state.claimsToReconcile().isEmpty)
        #expect(try call().exchange.call == 2)
    }

    @Test("a doubt that a heartbeat shows waits for the reports, and the reply to them does not wait")
    mutating func reportsFirst() throws {
        try claim(1..<3)
        answer(try call().exchange)
        guard case .wait = next() else { return #expect(Bool(false), "\(next())") }
        _ = state.ended(Run(id: "job-1", token: 1), report(1))
        for _ in 0..<3 { _ = state.heartbeatReplied(claims: 7) }
        let call = try call().exchange
        #expect(call.reports.count == 1)
        _ = state.ended(Run(id: "job-2", token: 2), report(2))
        answer(call)
        guard case .reconcile(call: 3) = next() else { return #expect(Bool(false), "\(next())") }
    }

    @Test("slots that wait for an unreachable queue go to the others")
    mutating func suspends() throws {
        _ = try call()
        #expect(budget.grant(to: 1).wanted == 0)
        state.unanswered()
        #expect(wakes.indexes.withLock { $0 } == [1])
        #expect(budget.grant(to: 1).wanted == 4)
    }

    // MARK: The end

    @Test("a draining worker makes sure that no push has answered its next call, and leaves")
    mutating func drains() throws {
        answer(try call().exchange)
        state.isDraining = true
        let last = try call().exchange
        #expect(last.wanted == 0 && !last.acceptsDirectDispatch)
        answer(last)
        guard case .finish = next() else { return #expect(Bool(false), "\(next())") }
    }

    @Test("a draining worker waits for its runs and reports them")
    mutating func drainsWithRuns() throws {
        try claim(1..<2)
        state.isDraining = true
        guard case .wait = next() else { return #expect(Bool(false), "\(next())") }
        _ = state.ended(Run(id: "job-1", token: 1), report(1))
        let last = try call().exchange
        #expect(last.reports.count == 1 && last.wanted == 0)
        answer(last)
        guard case .finish = next() else { return #expect(Bool(false), "\(next())") }
    }

    @Test("a lost session ends the poller, whatever it has")
    mutating func isLost() throws {
        try claim(1..<2)
        state.isLost = true
        guard case .finish = next() else { return #expect(Bool(false), "\(next())") }
        #expect(state.ended(Run(id: "job-1", token: 1), nil) == .poller)
    }
}
