import Errand
import ErrandRedis
import Foundation
import TestSupport

/// The activity of a worker when it dies.
enum CrashPoint: String, CaseIterable {
    case register, claim, report, heartbeat, recover, promote, update, reconcile, release, giveBack

    /// The script that it calls then.
    var script: String { [.claim, .report, .giveBack].contains(self) ? "exchange" : rawValue }

    /// Whether no other worker runs until then, because it might make the same call first.
    var isAlone: Bool { [.claim, .recover, .promote, .giveBack].contains(self) }

    /// Whether the jobs of the dead worker wait for a gate.
    var isGated: Bool { [.recover, .giveBack].contains(self) }

    /// Whether a request belongs to this activity.
    func matches(_ request: ChaosProxy.Request, _ ids: [String]) -> Bool {
        guard ScriptCalls.script(of: request) == script else { return false }
        return switch self {
        case .claim: ExchangeRequest(request)?.wantsClaims == true
        case .report: ids.contains { request.contains($0) }
        case .giveBack: ExchangeRequest(request)?.releases(ids) == true
        default: true
        }
    }

    /// The number of changes by a call, according to its reply; 0 for a call without effect.
    func effect(of answer: [UInt8]) -> Int {
        let answer = ScriptAnswer(answer)
        guard answer.isSuccess else { return 0 }
        return switch self {
        case .claim: answer.bringsClaims ? 1 : 0
        case .report, .giveBack: answer.countedReports
        case .recover, .promote, .update, .reconcile, .release: answer.count
        case .register, .heartbeat: 1
        }
    }
}

/// One worker dies at a point; another one finishes all jobs.
struct WorkerCrash {
    private let context: ScenarioContext
    private let server: RedisServer
    private let point: CrashPoint
    /// Whether its call was executed.
    private let isAfter: Bool
    private let gate: String
    private let jobs: [JobEnvelope]
    private let proxy: ChaosProxy
    private let victim = Victim()

    private var ids: [String] { jobs.map(\.id) }

    init(_ context: ScenarioContext, _ server: RedisServer, _ point: CrashPoint, isAfter: Bool) throws {
        self.context = context
        self.server = server
        self.point = point
        self.isAfter = isAfter
        let gate = context.directory + "/gate-" + String(UInt32.random(in: 0 ... .max), radix: 36)
        self.gate = gate
        jobs = try (0..<(point.isGated ? 4 : 20)).map { number in
            var options = JobOptions()
            options.milliseconds = 100
            options.name = "\(point) \(isAfter) \(number)"
            options.unique = .drop
            options.gate = gate
            options.delay = point == .promote || (!point.isGated && number % 4 == 0) ? 500 : nil
            return try context.job(point.isGated ? "gate" : point == .update ? "progress" : "nap", options)
        }
        proxy = try context.proxy(server)
    }

    func run() async throws {
        defer { proxy.close() }
        let before = try await context.totals()["recovered"]
        let other = point.isAlone ? nil : try await another()
        injection()
        let (worker, strays) = try await leadToThePoint()
        try await eventually("a worker comes to \(point), and it is \(isAfter ? "" : "not ")carried out") {
            victim.isStopped
        }
        if !isAfter { try await expectSomethingToDo() }
        try await context.kill(worker)
        context.injected()
        let last = if let other { other } else { try await another() }
        // A repeated recovery is only visible while the job runs.
        if point.isGated { try await nobodyElseIsLeft(but: context.sessions(of: last)) }
        try Data().write(to: URL(fileURLWithPath: gate))
        let all = ids + strays
        try await context.recovers("the jobs end though a worker died at \(point)", within: .seconds(15)) {
            all.allSatisfy { context.ledger.ended[$0] != nil }
        }
        // A job may have ended without its report: it is recovered, too, and not in the next round.
        try await nobodyElseIsLeft(but: context.sessions(of: last))
        try await expectRecovered(since: before)
        last.signal(SIGTERM)
        _ = try await last.end()
    }

    private func another() async throws -> Program { try await context.worker { $0.concurrency = 8 } }

    /// Suspends the victim at the point: before its call has arrived, or after the server has executed it.
    private func injection() {
        let (point, ids, victim, isAfter) = (point, ids, victim, isAfter)
        proxy.treat { request in
            guard !isAfter, point.matches(request, ids), victim.meets() else { return .pass }
            victim.stop()
            return .hold
        }
        proxy.corrupt { request, answer in
            guard isAfter, point.matches(request, ids) else { return nil }
            let effect = point.effect(of: answer)
            guard effect > 0, victim.meets() else { return nil }
            victim.stop(effect: effect)
            return []
        }
    }

    // MARK: Reaching the point

    /// Brings a worker to the point where it dies.
    ///
    /// - Returns: The worker, and further jobs that must end.
    private func leadToThePoint() async throws -> (worker: Program, strays: [String]) {
        switch point {
        case .register:
            victim.arm()
            let worker = try await victimStarts()
            try await context.push(jobs)
            return (worker, [])
        case .claim:
            try await context.push(jobs)
            victim.arm()
            return (try await victimStarts(), [])
        case .recover: return (try await comesToRecover(), [])
        case .promote:
            let worker = try await victimWorks()
            // Earlier calls find nothing.
            victim.arm(from: jobs.map(\.notBefore).max() ?? 0)
            try await context.push(jobs)
            return (worker, [])
        case .report, .heartbeat, .update, .reconcile:
            let worker = try await victimWorks()
            try await context.push(jobs)
            victim.arm()
            return (worker, point == .reconcile ? try await context.straysClaimed(by: worker, on: server) : [])
        case .release: return try await comesToRelease()
        case .giveBack:
            let worker = try await victimWorks()
            try await context.push(jobs)
            try await allRun()
            victim.arm()
            worker.signal(SIGTERM)
            return (worker, [])
        }
    }

    private func victimStarts() async throws -> Program {
        let worker = try await context.worker {
            $0.url = proxy.url
            // So that it soon releases the jobs that wait for the gate.
            if point == .giveBack { $0.grace = 1000 }
            $0.waits = false
        }
        victim.is(worker.pid)
        return worker
    }

    private func victimWorks() async throws -> Program {
        let worker = try await victimStarts()
        try await context.registered(worker)
        return worker
    }

    private func allRun() async throws {
        try await eventually("all run") { ids.allSatisfy { context.ledger.begun[$0] != nil } }
    }

    /// A worker with all jobs is killed, and only the victim can recover them.
    private func comesToRecover() async throws -> Program {
        let holder = try await context.worker()
        try await context.push(jobs)
        try await allRun()
        let worker = try await victimWorks()
        let living = context.sessions(of: holder) + context.sessions(of: worker)
        try await nobodyElseIsLeft(but: living)
        try await context.kill(holder)
        victim.arm(from: try context.leaseEnd(of: holder, on: server))
        return worker
    }

    /// Waits until the broker has ended all sessions but these.
    private func nobodyElseIsLeft(but living: [String]) async throws {
        try await eventually("of those who have died nothing is left", within: .seconds(20)) {
            try await Set(context.console.status(of: ScenarioContext.queue).sessions.map(\.id)).isSubset(of: living)
        }
    }

    /// The broker has claims that the victim does not know and that are released with its session.
    private func comesToRelease() async throws -> (worker: Program, strays: [String]) {
        let worker = try await victimWorks()
        try await context.push(jobs)
        // Without other work it stops at once, before it could reconcile.
        try await context.drain()
        let strays = try await context.straysClaimed(by: worker, on: server)
        victim.arm()
        worker.signal(SIGTERM)
        return (worker, strays)
    }

    // MARK: Expectations

    /// Checks that the held call would have changed something.
    private func expectSomethingToDo() async throws {
        let now = try await context.status()
        let amount =
            switch point {
            case .claim: now.ready
            case .promote: now.scheduled
            // Only claims of sessions whose lease has ended.
            case .recover: now.running > 0 ? try leasesOver() : 0
            case .report, .reconcile, .release, .giveBack: now.running
            case .register, .heartbeat, .update: 1
            }
        context.expectInjection(amount > 0, "at \(point) there was nothing to do")
    }

    private func leasesOver() throws -> Int {
        Int(try server.run("ZCOUNT", ScenarioContext.key("sessions"), "-inf", "\(ScenarioContext.now)").trimmed) ?? 0
    }

    /// Checks that all jobs of the dead worker that were not released before are recovered, once.
    private func expectRecovered(since before: Int) async throws {
        guard [.recover, .release, .giveBack].contains(point) else { return }
        let held = 4
        let expected = point == .recover ? held : held - victim.effect
        let recovered = try await context.totals()["recovered"] - before
        context.expect(
            recovered == expected,
            "after a death \(isAfter ? "after" : "before") \(point) \(recovered) jobs were recovered, not \(expected)"
        )
    }
}
