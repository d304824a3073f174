import Errand
import ErrandCommandLine
import ErrandRedis
import Foundation
import Logging
import Synchronization
import TestSupport

/// One scenario being played: its servers, its workers, its books, and what was seen to be wrong.
///
/// A scenario sets the scene with it, makes its fault happen, calls ``injected(_:)`` each time it did, heals it and measures
/// how long work took to go on. Then ``settle()`` waits for the queue to drain, lets the workers leave, and checks.
final class ScenarioContext: Sendable {
    struct State {
        var random: SeededRandom
        var report = FaultReport(scenario: "", title: "")
        var problems: [Problem] = []
        var unproven: [String] = []
        var lastInjection: ContinuousClock.Instant?
        var halts: [@Sendable () async -> Void] = []
        var servers: [RedisServer] = []
        var brokers: [RedisBroker] = []
        var console: RedisBroker?
        var watched: RedisServer?
        var operators: RedisBroker?
        var programs: [Program] = []
        var workers: [Program] = []
        /// How many descriptors each worker had open when it registered, by process id.
        var descriptors: [Int32: Int] = [:]
        var cleanups: [@Sendable () -> Void] = []
        var rules = Rules()
        var hasSettled = false
    }

    /// Something that did not hold.
    struct Problem: Sendable {
        let what: String
        /// Whether a busy machine may have been the cause.
        let isOfTime: Bool
    }

    /// What must hold in the end, beside that nothing is lost and nothing is stuck.
    struct Rules: Sendable {
        /// No job may begin twice.
        var forbidsDuplicates = false
        /// No job may run twice at the same time.
        var forbidsOverlaps = false
        /// The server lost data; what it lost is counted but no failure. What is pushed after the last injection must not be lost.
        var serverLosesData = false
        /// Whether the workers must leave with status 0 when they are asked to.
        var workersLeaveCleanly = true
        /// Whether a worker may end that was neither asked to leave nor killed by the scenario.
        var workersMayEnd = false
        /// Whether nobody may have thought of an outage: then beats that fail for everybody show.
        var forbidsGrace = false
        /// Whether somebody ends jobs by hand that were meant to run to their end.
        var jobsMayBeCancelled = false
        /// How long the queue may take to drain.
        var drain = Duration.seconds(60)
        /// By how much what comes too late may be late because the machine is busy. Beyond that it counts as never.
        var lateness = Duration.seconds(60)
        /// Whether a push that is refused is tried again, as an application may while somebody mends the server.
        var triesRefusedAgain = false
        /// How early a delayed job may begin, in milliseconds (clocks that were moved).
        var earlyTolerance: Int64 = 50
        /// Whether a job may run again although a worker was told that its end is accepted, and nothing is wrong with that.
        var mayRunAfterItsEnd = false
        /// Whether two runs may have one token: where answers are forged, or an id stands in a line twice.
        var mayReuseTokens = false
        /// Beginnings of keys that may be left over in the end, beside those that always may.
        var toleratedKeys: [String] = []
    }

    static let queue = "faults"

    let isFull: Bool
    let directory: String
    let ledger: LedgerFollower
    let accounts = Accounts()
    let state: Mutex<State>

    init(isFull: Bool, seed: UInt64) throws {
        self.isFull = isFull
        directory = NSTemporaryDirectory() + "ef-" + String(UInt32.random(in: 0 ... .max), radix: 36)
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        ledger = LedgerFollower(directory + "/ledger")
        state = Mutex(State(random: SeededRandom(seed: seed)))
    }

    /// A size by profile.
    func size(quick: Int, full: Int) -> Int { isFull ? full : quick }

    /// Changes what must hold in the end.
    func rules(_ change: (inout Rules) -> Void) { state.withLock { change(&$0.rules) } }

    /// A random number that the seed determines.
    func random(_ range: ClosedRange<Int>) -> Int { state.withLock { Int.random(in: range, using: &$0.random) } }

    // MARK: What is seen

    /// The fault happened.
    func injected(_ times: Int = 1) {
        state.withLock { state in
            state.report.injected += times
            if times > 0 { state.lastInjection = .now }
        }
    }

    /// The fault happened so many times, by the evidence for it; a run in which there is none is invalid.
    func injected(_ times: Int, or what: @autoclosure () -> String) {
        guard times < 1 else { return injected(times) }
        expectStrike(false, what())
    }

    /// Evidence that a fault injected as it was meant to, which is a matter of chance; a run without it is invalid.
    func expectStrike(_ holds: Bool, _ what: @autoclosure () -> String) {
        guard !holds else { return }
        let what = what()
        state.withLock { $0.unproven.append(what) }
    }

    /// Something worth telling that is no problem, on standard error.
    func note(_ what: String) { StandardError.write("    " + what) }

    /// Something must hold; what does not is a problem of the report.
    func expect(_ holds: Bool, _ what: @autoclosure () -> String) {
        guard !holds else { return }
        let what = what()
        state.withLock { $0.problems.append(Problem(what: what, isOfTime: false)) }
    }

    /// Something must hold on a machine that has time; where it does not, the scenario may be played again.
    func expectInTime(_ holds: Bool, _ what: @autoclosure () -> String) {
        guard !holds else { return }
        let what = what()
        state.withLock { $0.problems.append(Problem(what: what, isOfTime: true)) }
    }

    /// The scenario could not be played on.
    func fails(_ error: any Error) {
        let isOfTime = (error as? TestFailure)?.isOfTime ?? false
        state.withLock { $0.problems.append(Problem(what: "\(error)", isOfTime: isOfTime)) }
    }

    /// Does something before the books are compared when a scenario broke off: what goes on by itself must end.
    func atHalt(_ halt: @escaping @Sendable () async -> Void) { state.withLock { $0.halts.append(halt) } }

    /// Ends what goes on by itself: loads, supervisors.
    func halt() async {
        for halt in state.withLock(\.halts) { await halt() }
    }

    /// Waits until work goes on after a fault, and notes how long it took.
    func recovers(
        _ what: String,
        within limit: Duration = .seconds(30),
        since: ContinuousClock.Instant = .now,
        _ holds: () async throws -> Bool
    ) async throws {
        try await becomesTrue(what, within: limit, holds)
        let took = Int((ContinuousClock.now - since) / .milliseconds(1))
        state.withLock { $0.report.recoveryMilliseconds = max($0.report.recoveryMilliseconds, took) }
    }

    /// A busy machine makes late what comes; what does not come a good while later either is wrong.
    private func becomesTrue(_ what: String, within limit: Duration, _ holds: () async throws -> Bool) async throws {
        guard let late = try await isLate(what, within: limit, holds) else { return }
        let lateness = state.withLock(\.rules.lateness)
        guard try await isLate(what, within: lateness, holds) == nil else { throw TestFailure("never: \(what)") }
        throw late
    }

    private func isLate(
        _ what: String,
        within limit: Duration,
        _ holds: () async throws -> Bool
    ) async throws -> TestFailure? {
        do {
            try await eventually(what, within: limit, holds)
            return nil
        } catch let failure as TestFailure where failure.isOfTime { return failure }
    }

    /// Does something when the scenario ends, however it ends; the last first.
    func atEnd(_ cleanup: @escaping @Sendable () -> Void) { state.withLock { $0.cleanups.append(cleanup) } }

    /// Ends everything that was started.
    func end(keepsFiles: Bool) async {
        let last = state.withLock { state in
            defer {
                state.servers = []
                state.brokers = []
                state.console = nil
                state.watched = nil
                state.operators = nil
                state.programs = []
                state.workers = []
                state.cleanups = []
                state.halts = []
            }
            return state
        }
        if !last.problems.isEmpty {
            for worker in last.workers { note("worker \(worker.pid) \(worker.account)") }
        }
        for program in last.programs {
            program.signal(SIGCONT)
            try? await program.killTree()
        }
        for broker in last.brokers { broker.close() }
        for cleanup in last.cleanups.reversed() { cleanup() }
        for server in last.servers { server.kill(SIGKILL) }
        if !keepsFiles { try? FileManager.default.removeItem(atPath: directory) }
    }

    /// Puts what was found into the report.
    func fill(_ report: inout FaultReport) {
        let (found, problems, unproven) = state.withLock { ($0.report, $0.problems, $0.unproven) }
        let (scenario, title, seed) = (report.scenario, report.title, report.seed)
        report = found
        (report.scenario, report.title, report.seed) = (scenario, title, seed)
        report.serverLostData = state.withLock(\.rules.serverLosesData)
        report.valid = found.injected > 0 && unproven.isEmpty
        report.isCompared = state.withLock(\.hasSettled)
        report.isWrong = !problems.allSatisfy(\.isOfTime)
        report.problems = problems.map(\.what) + unproven.map { "the fault did not happen: \($0)" }
        if found.injected == 0, unproven.isEmpty { report.problems.append("the fault did not happen") }
        report.passed = report.valid && report.isCompared && report.problems.isEmpty
    }
}
