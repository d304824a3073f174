import Errand
import Foundation
import TestSupport

/// Networks that lose, double and cut what goes through them.
extension Scenario {
    static let lostAnswers = [
        Scenario("F23", "of each script's calls every fourth is carried out, and its answer lost", quick: true) {
            context in
            try await endure(context) { $0 % 4 == 0 ? .loseAnswer : .pass }
        },
        Scenario("F24", "of each script's calls every second arrives twice", quick: true) { context in
            try await endure(context) { $0 % 2 == 0 ? .twice : .pass }
        },
        Scenario(
            "F25",
            "connections are reset in the middle of a request, and end while answers are awaited",
            quick: true
        ) { context in
            try await endure(context, answers: false) { $0 % 5 == 0 ? .cutInTheMiddle : .pass }
        },
        Scenario("F27", "answers come byte by byte") { context in
            try await endure(context, slice: 1) { _ in .pass }
        },
        Scenario("F27b", "answers stop in the middle of a job, and nothing more comes over their connection", stall),
    ]

    /// What is missing is not waited for longer than for any answer: then the same is asked again over another connection.
    private static func stall(_ context: ScenarioContext) async throws {
        context.rules { $0.forbidsDuplicates = true }
        let server = try context.server()
        let proxy = try context.proxy(server)
        let line = DyingLine(proxy)
        let worker = try await context.worker { $0.url = proxy.url }
        for _ in 0..<context.size(quick: 2, full: 20) {
            let before = try connections(server)
            let strikes = line.strikes
            line.arm()
            let ids = try await context.push(10, "mark") { $0.pad = 200 }
            try await context.recovers("the jobs end", within: .seconds(10)) {
                ids.allSatisfy { context.ledger.ended[$0] != nil }
            }
            context.injected(line.strikes - strikes, or: "no answer stopped")
            let after = try connections(server)
            context.expect(!after.isSubset(of: before), "no new connection was made")
        }
        context.expect(context.sessions(of: worker).count == 1, "the session was lost")
        let totals = try await context.totals()
        context.expect(totals["recovered"] == 0, "\(totals["recovered"]) jobs were taken back")
    }

    /// The connections of workers, but for those of heartbeats, by the server's numbers for them.
    private static func connections(_ server: RedisServer) throws -> Set<String> {
        let clients = try server.run("CLIENT", "LIST").split(separator: "\n")
        let workers = clients.filter { $0.contains(" name=errand-fault-worker ") }
        return Set(workers.compactMap { $0.split(separator: " ").first.map(String.init) })
    }

    /// Each script that a job meets in its life is called through a bad network, and injected; each job runs once.
    ///
    /// - Parameter answers: whether what is injected is carried out and answered, lost or not.
    private static func endure(
        _ context: ScenarioContext,
        slice: Int = .max,
        answers: Bool = true,
        _ treat: @escaping @Sendable (_ number: Int) -> ChaosProxy.Treatment
    ) async throws {
        let server = try context.server()
        try server.learnScripts()
        let proxy = try context.proxy(server)
        let calls = ScriptCalls()
        let windows = InjectionWindows(areCarriedOut: answers)
        proxy.slice(slice)
        proxy.treat { request in
            guard let (name, number) = calls.note(request) else { return .pass }
            // Of the first call of all no treatment spares any.
            let treatment = treat(windows.strikes(name) ? 0 : number)
            if treatment != .pass || slice != .max { calls.injection(name, request) }
            return treatment
        }
        let broker = try context.connect(proxy.url)
        let every = EveryScript(context: context, server: server, url: proxy.url, broker: broker, windows: windows)
        let held = try await every.run()
        proxy.treat { _ in .pass }
        for script in EveryScript.names {
            context.injected(calls.strikes(on: script), or: "no call of \(script) was injected")
        }
        if answers {
            expectEffects(context, calls, windows, proxy)
        } else {
            context.expectStrike(windows.isSpent("recover"), "no recovery was injected when there was one to do")
            try await TornPipelines.endure(context, server, proxy, times: context.size(quick: 2, full: 20))
        }
        try await expectOnce(context, butFor: held)
    }

    /// Also those calls were injected that changed something.
    private static func expectEffects(
        _ context: ScenarioContext,
        _ calls: ScriptCalls,
        _ windows: InjectionWindows,
        _ proxy: ChaosProxy
    ) {
        for (letter, word) in [("d", "dropped"), ("r", "replaced"), ("n", "deferred")] as [(Character, String)] {
            context.injected(
                calls.pushes(answered: letter, through: proxy),
                or: "no push that was injected was \(word)"
            )
        }
        for script in ["recover", "promote"] {
            let effects = windows.effects(of: script, through: proxy)
            context.injected(effects, or: "no call of \(script) was injected that moved a job")
        }
        context.injected(calls.claims(through: proxy), or: "no exchange was injected that brought jobs")
    }

    /// Each job has run once, but for those that a dead worker held: only these were taken back.
    private static func expectOnce(_ context: ScenarioContext, butFor held: [String]) async throws {
        try await context.drain()
        let twice = context.ledger.begun.filter { $0.value > 1 }
        let isRight = Set(twice.keys) == Set(held) && twice.values.allSatisfy { $0 == 2 }
        context.expect(isRight, "ran more than once: \(twice), and only \(held) should have, twice")
        let recovered = try await context.totals()["recovered"]
        context.expect(recovered == held.count, "\(recovered) jobs were taken back, not \(held.count)")
    }
}
