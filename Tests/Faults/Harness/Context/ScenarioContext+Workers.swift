import Foundation
import Synchronization
import TestSupport

/// The options of a worker process.
struct WorkerOptions: Sendable {
    var url: String?
    var lease = 2000
    var concurrency = 4
    var grace = 10000
    var stopGrace = 500
    var overruns: Int?
    var stuckAfter = 60000
    var queues = [ScenarioContext.queue]
    var without: [String] = []
    /// Whether it reports a blocked task pool.
    var watchesPool = false
    /// Whether it continues after its task pool was blocked.
    var goesOn = false
    /// The number of workers in the process, each with its own session and connections.
    var count = 1
    /// Words before the command, for instance `ip netns exec …`.
    var prefix: [String] = []
    /// A trap should end the process at once, without a backtrace.
    var environment = ["SWIFT_BACKTRACE": "enable=no"]
    /// Whether to wait until it is registered.
    var waits = true
}

extension ScenarioContext {
    /// Starts a worker process and, by default, waits until it is registered.
    @discardableResult
    func worker(_ change: (inout WorkerOptions) -> Void = { _ in }) async throws -> Program {
        var options = WorkerOptions()
        change(&options)
        let worker = try start(options)
        if options.waits { try await registered(worker) }
        return worker
    }

    /// Starts several identical workers.
    @discardableResult
    func workers(_ count: Int, _ change: (inout WorkerOptions) -> Void = { _ in }) async throws -> [Program] {
        var workers: [Program] = []
        for _ in 0..<count { workers.append(try await worker(change)) }
        return workers
    }

    private func start(_ options: WorkerOptions) throws -> Program {
        guard let url = options.url ?? state.withLock(\.servers).first?.url else {
            throw TestFailure("there is no server yet")
        }
        var arguments = [
            "--redis", url, "--ledger", ledger.path, "--lease", "\(options.lease)", "--grace", "\(options.grace)",
            "--concurrency", "\(options.concurrency)", "--stop-grace", "\(options.stopGrace)",
        ]
        if let overruns = options.overruns { arguments += ["--overruns", "\(overruns)"] }
        arguments += ["--stuck-after", "\(options.stuckAfter)"]
        for queue in options.queues { arguments += ["--queue", queue] }
        for operation in options.without { arguments += ["--without", operation] }
        if options.watchesPool { arguments.append("--watch-pool") }
        if options.goesOn { arguments.append("--goes-on") }
        if options.count > 1 { arguments += ["--count", "\(options.count)"] }
        let worker =
            if options.prefix.isEmpty {
                try Program("errand-fault-worker", arguments, environment: options.environment)
            } else {
                try Program(
                    "/usr/bin/env",
                    options.prefix + [Program.path(of: "errand-fault-worker")] + arguments,
                    environment: options.environment
                )
            }
        state.withLock {
            $0.programs.append(worker)
            $0.workers.append(worker)
        }
        return worker
    }

    /// Starts another program, which ends with the scenario.
    func program(_ name: String, _ arguments: [String], environment: [String: String] = [:]) throws -> Program {
        let program = try Program(name, arguments, environment: environment)
        state.withLock { $0.programs.append(program) }
        return program
    }

    /// The processes that have not ended.
    var livingPrograms: [Program] { state.withLock(\.programs).filter(\.isRunning) }

    /// Waits until a worker has registered one session, or this many.
    func registered(_ worker: Program, times: Int = 1, within limit: Duration = .seconds(30)) async throws {
        try await eventually("worker \(worker.pid) registers; it wrote \(worker.lines.suffix(3))", within: limit) {
            guard worker.isRunning else { throw TestFailure("the worker ended: \(worker.lines.prefix(5))") }
            return self.sessions(of: worker).count >= times
        }
        if times == 1 { noteDescriptors(of: worker) }
    }

    /// Every worker that was started, whether it still runs or not.
    var startedWorkers: [Program] { state.withLock(\.workers) }

    /// The largest number of blocking handlers until the task pool is blocked.
    static var poolWidth: Int {
        max(ProcessInfo.processInfo.processorCount, ProcessInfo.processInfo.activeProcessorCount)
    }

    /// The longest reported time in milliseconds for which a worker's task pool was blocked.
    func poolSilence(of worker: Program) -> Int {
        worker.lines.filter { $0.hasPrefix("pool ") }.compactMap { Int($0.dropFirst("pool ".count)) }.max() ?? 0
    }

    /// The sessions that a worker has had, oldest first.
    func sessions(of worker: Program) -> [String] {
        worker.lines.filter { $0.hasPrefix("registered ") }.map { String($0.dropFirst("registered ".count)) }
    }

    /// Whether a worker has begun one of these jobs and not ended it.
    func holds(_ worker: Program, _ jobs: [String]) -> Bool {
        let mine = ledger.lines.filter { $0.pid == worker.pid && jobs.contains($0.id) }
        let ended = Set(mine.filter { $0.what == "end" }.map(\.id))
        return mine.contains { $0.what == "begin" && !ended.contains($0.id) }
    }

    /// Checks that none of these has ended.
    func expectAlive(_ workers: [Program]) {
        for worker in workers {
            guard let status = worker.status else { continue }
            expect(false, "a worker ended with \(status): \(worker.lines.suffix(4))")
        }
    }

    /// Kills a worker with its children, and waits until it is gone.
    func kill(_ worker: Program) async throws {
        worker.signal(SIGKILL)
        try await eventually("the killed worker is gone") { !worker.isRunning }
    }

    /// Stops every running worker, and expects a clean exit.
    func leave() async throws {
        let running = state.withLock(\.workers).filter(\.isRunning)
        let mustBeClean = state.withLock(\.rules.workersLeaveCleanly)
        for worker in running {
            worker.signal(SIGCONT)
            worker.signal(SIGTERM)
        }
        for worker in running { _ = try await worker.end(within: .seconds(40)) }
        for worker in startedWorkers { expectRightEnd(of: worker, mustBeClean: mustBeClean) }
    }

    /// Checks that workers that were not killed have only ended on request, and cleanly.
    private func expectRightEnd(of worker: Program, mustBeClean: Bool) {
        guard let status = worker.status, !worker.signals.contains(SIGKILL) else { return }
        let last = worker.lines.suffix(3)
        if worker.signals.isDisjoint(with: [SIGTERM, SIGINT]) {
            let mayEnd = state.withLock(\.rules.workersMayEnd)
            expect(mayEnd, "a worker ended by itself with status \(status): \(last)")
        } else {
            expect(!mustBeClean || status == 0, "a worker left with status \(status): \(last)")
        }
    }
}
