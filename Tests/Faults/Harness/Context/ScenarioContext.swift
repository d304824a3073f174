import Errand
import ErrandCommandLine
import ErrandRedis
import Foundation
import Logging
import Synchronization
import TestSupport

/// The state of a running scenario: its servers, workers, accounts and problems.
///
/// A scenario prepares its processes, injects its fault, calls ``injected(_:)`` each time, ends the fault and measures
/// the time until work continued. Then ``settle()`` waits for the queue to drain, stops the workers, and checks.
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
        var cluster: RedisCluster?
        var operators: RedisBroker?
        var programs: [Program] = []
        var workers: [Program] = []
        /// The number of open descriptors of each worker at its registration, by process id.
        var descriptors: [Int32: Int] = [:]
        var cleanups: [@Sendable () -> Void] = []
        var rules = Rules()
        var hasSettled = false
    }

    /// A violated expectation.
    struct Problem: Sendable {
        let what: String
        /// Whether a busy machine may have been the cause.
        let isOfTime: Bool
    }

    /// Expectations for the end, besides that no job is lost or stuck.
    struct Rules: Sendable {
        /// No job may begin twice.
        var forbidsDuplicates = false
        /// No job may run twice at the same time.
        var forbidsOverlaps = false
        /// Whether the server loses data; its losses are counted but no failure. Jobs pushed after the last injection
        /// must not be lost.
        var serverLosesData = false
        /// Whether the workers must exit with status 0 on request.
        var workersLeaveCleanly = true
        /// Whether a worker may end that was neither stopped nor killed by the scenario.
        var workersMayEnd = false
        /// Whether no outage may have been detected, so that heartbeats that fail for all workers are noticed.
        var forbidsGrace = false
        /// Whether jobs that should run to their end are ended by hand.
        var jobsMayBeCancelled = false
        /// The time limit for draining the queue.
        var drain = Duration.seconds(60)
        /// The largest delay that a busy machine excuses; beyond it the event counts as missing.
        var lateness = Duration.seconds(60)
        /// Whether a rejected push is repeated, as an application may do while the server is being repaired.
        var triesRefusedAgain = false
        /// How early a delayed job may begin, in milliseconds (for changed clocks).
        var earlyTolerance: Int64 = 50
        /// Whether a job may run again although its end was accepted.
        var mayRunAfterItsEnd = false
        /// Whether two runs may have one token: with forged replies, or an id that is twice in a ready list.
        var mayReuseTokens = false
        /// Prefixes of keys that may be left over at the end, besides the usual ones.
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

    /// Changes the expectations for the end.
    func rules(_ change: (inout Rules) -> Void) { state.withLock { change(&$0.rules) } }

    /// A random number that the seed determines.
    func random(_ range: ClosedRange<Int>) -> Int { state.withLock { Int.random(in: range, using: &$0.random) } }

    // MARK: Observations

    /// Records an injection of the fault.
    func injected(_ times: Int = 1) {
        state.withLock { state in
            state.report.injected += times
            if times > 0 { state.lastInjection = .now }
        }
    }

    /// Records this many injections, with their evidence; a run without any is invalid.
    func injected(_ times: Int, or what: @autoclosure () -> String) {
        guard times < 1 else { return injected(times) }
        expectInjection(false, what())
    }

    /// Records evidence that the fault was injected as intended, which depends on chance; a run without it is invalid.
    func expectInjection(_ holds: Bool, _ what: @autoclosure () -> String) {
        guard !holds else { return }
        let what = what()
        state.withLock { $0.unproven.append(what) }
    }

    /// Writes a remark to standard error.
    func note(_ what: String) { StandardError.write("    " + what) }

    /// Reports a problem unless the condition holds.
    func expect(_ holds: Bool, _ what: @autoclosure () -> String) {
        guard !holds else { return }
        let what = what()
        state.withLock { $0.problems.append(Problem(what: what, isOfTime: false)) }
    }

    /// Reports a problem unless the condition holds; as a busy machine may be the cause, the scenario may be repeated.
    func expectInTime(_ holds: Bool, _ what: @autoclosure () -> String) {
        guard !holds else { return }
        let what = what()
        state.withLock { $0.problems.append(Problem(what: what, isOfTime: true)) }
    }

    /// Reports that the scenario could not continue.
    func fails(_ error: any Error) {
        let isOfTime = (error as? TestFailure)?.isOfTime ?? false
        state.withLock { $0.problems.append(Problem(what: "\(error)", isOfTime: isOfTime)) }
    }

    /// Registers an action that ends background activity if the scenario fails, before the accounts are compared.
    func atHalt(_ halt: @escaping @Sendable () async -> Void) { state.withLock { $0.halts.append(halt) } }

    /// Ends background activity: loads, supervisors.
    func halt() async {
        for halt in state.withLock(\.halts) { await halt() }
    }

    /// Waits until work continues after a fault, and records how long it took.
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

    /// A busy machine may delay events; an event that is still missing much later is a problem.
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

    /// Registers an action for the end of the scenario; the last one runs first.
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

    /// Writes the findings into the report.
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
