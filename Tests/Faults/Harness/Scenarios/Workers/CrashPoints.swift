import Errand
import ErrandRedis
import Foundation
import Synchronization
import TestSupport

/// Crashes at every script: before the server receives the call, and after its execution, before the reply arrives.
extension Scenario {
    static let crashPoints = [
        Scenario("F02", "a worker or producer dies before and after each script", quick: true, limit: .seconds(240)) {
            context in
            let server = try context.server()
            try server.learnScripts()
            let rounds = context.size(quick: 1, full: 10)
            for _ in 0..<rounds {
                for point in CrashPoint.allCases {
                    for isAfter in [false, true] {
                        try await WorkerCrash(context, server, point, isAfter: isAfter).run()
                    }
                }
            }
            try await context.worker { $0.concurrency = 8 }
            for _ in 0..<rounds {
                for isAfter in [false, true] { try await crashProducer(context, server, isAfter: isAfter) }
            }
        },
        Scenario(
            "F02b",
            "the only worker dies before and after a tick, and a console before and after it cancels a job",
            quick: true
        ) { context in
            let server = try context.server()
            try server.learnScripts()
            let pulse = try await Pulse(context)
            for _ in 0..<context.size(quick: 1, full: 10) {
                for isAfter in [false, true] {
                    try await crashTicker(context, server, isAfter: isAfter)
                    try await crashConsole(context, server, isAfter: isAfter)
                }
            }
            try await context.worker()
            try await pulse.stop()
        },
    ]

    /// Waits until the server has executed the last call of a script, without an error, and for a tick with a push.
    private static func carriedOut(_ script: String, _ proxy: ChaosProxy) async throws {
        try await eventually("the server has carried out \(script)") {
            let passage = proxy.passages.last { ScriptCalls.script(of: $0.request) == script }
            guard let passage, ScriptAnswer(passage.answer).isSuccess else { return false }
            return script != "tick" || passage.answerText.contains("pushed")
        }
    }

    /// A program dies before the server receives its call of a script, or after its execution.
    static func die(
        _ context: ScenarioContext,
        _ server: RedisServer,
        at script: String,
        isAfter: Bool,
        _ start: (_ url: String) async throws -> Program
    ) async throws {
        let proxy = try context.proxy(server)
        defer { proxy.close() }
        let victim = Victim()
        // It may reach the script before the harness knows it.
        victim.arm()
        proxy.treat { request in
            guard ScriptCalls.script(of: request) == script, victim.meets() else { return .pass }
            victim.stop()
            return isAfter ? .pass : .hold
        }
        let program = try await start(proxy.url)
        victim.is(program.pid)
        try await eventually("the program comes to \(script); it wrote \(program.lines)") { victim.isStopped }
        if isAfter { try await carriedOut(script, proxy) }
        try await context.kill(program)
        context.injected()
    }

    /// A producer dies, and its command is repeated with the same id.
    private static func crashProducer(_ context: ScenarioContext, _ server: RedisServer, isAfter: Bool) async throws {
        let job = try context.job("mark")
        let arguments = ["push", "mark", "--queue", ScenarioContext.queue, "--id", job.id, "--json"]
        try await die(context, server, at: "push", isAfter: isAfter) { url in
            try context.program("errand-producer", arguments + ["--redis", url])
        }
        context.accounts.tries([job], ends: true)
        let again = try context.program("errand-producer", arguments + ["--redis", server.url])
        let status = try await again.end()
        let said = again.lines.first { $0.hasPrefix("{") } ?? "nothing"
        context.expect(status == 0, "the repeated push ended with \(status)")
        context.expect(said.contains(isAfter ? "\"exists\"" : "\"accepted\""), "the repeated push said \(said)")
        context.accounts.took([Receipt(id: job.id, queue: ScenarioContext.queue, outcome: .accepted)], of: [job])
        try await eventually("the job ends") { context.ledger.ended[job.id] == 1 }
    }

    /// The only worker dies at a tick; the next one pushes it, or finds it pushed.
    private static func crashTicker(_ context: ScenarioContext, _ server: RedisServer, isAfter: Bool) async throws {
        try await die(context, server, at: "tick", isAfter: isAfter) { url in
            try await context.worker {
                $0.url = url
                $0.waits = false
            }
        }
    }

    /// A console dies, and its command is repeated.
    private static func crashConsole(_ context: ScenarioContext, _ server: RedisServer, isAfter: Bool) async throws {
        let ids = try await context.push(1, "mark") {
            $0.delay = 3_600_000
            $0.ends = false
        }
        let arguments = ["job", "cancel", ids[0], "--queue", ScenarioContext.queue, "--json"]
        try await die(context, server, at: "cancel", isAfter: isAfter) { url in
            try context.command("errand", arguments + ["--redis", url])
        }
        let again = try context.command("errand", arguments + ["--redis", server.url])
        _ = try await again.end()
        let said = again.lines.first { $0.hasPrefix("{") } ?? "nothing"
        context.expect(said.contains(isAfter ? "\"ended\"" : "\"cancelled\""), "the repeated cancel said \(said)")
        let state = try await context.console.inspect(ids, on: ScenarioContext.queue)[0]?.state
        context.expect(state == .cancelled, "the cancelled job is \(state?.rawValue ?? "gone")")
    }
}

/// A process that is suspended at the first matching request, once armed.
final class Victim: Sendable {
    private struct State {
        var pid: Int32 = 0
        /// The time from which it is armed, in milliseconds since 1970.
        var isArmedFrom = Int64.max
        var isStopped = false
        var effect = 0
    }

    private let state = Mutex(State())
    private let isKnown = DispatchSemaphore(value: 0)

    func `is`(_ pid: Int32) {
        state.withLock { $0.pid = pid }
        isKnown.signal()
    }

    /// Matches requests from now on, or from a later time on.
    func arm(from time: Int64 = 0) { state.withLock { $0.isArmedFrom = time } }
    var isStopped: Bool { state.withLock(\.isStopped) }
    /// The number of changes by the call at which it was suspended and whose reply it never received.
    var effect: Int { state.withLock(\.effect) }

    /// Whether the request matches.
    func meets() -> Bool { state.withLock { $0.isArmedFrom <= ScenarioContext.now && !$0.isStopped } }

    /// Suspends the process, as soon as its id is known.
    func stop(effect: Int = 0) {
        guard isKnown.wait(timeout: .now() + .seconds(60)) == .success else { return }
        isKnown.signal()
        state.withLock { state in
            send(SIGSTOP, toChild: state.pid)
            state.effect = effect
            state.isStopped = true
        }
    }
}
