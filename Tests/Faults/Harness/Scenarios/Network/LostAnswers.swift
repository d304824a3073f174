import Errand
import Foundation
import TestSupport

/// Networks that lose, repeat and cut messages.
extension Scenario {
    static let lostAnswers = [
        Scenario("F23", "every fourth call of each script is executed, and its reply lost", quick: true) {
            context in
            try await endure(context) { $0 % 4 == 0 ? .loseAnswer : .pass }
        },
        Scenario("F24", "every second call of each script arrives twice", quick: true) { context in
            try await endure(context) { $0 % 2 == 0 ? .twice : .pass }
        },
        Scenario(
            "F25",
            "connections are reset in the middle of a request, and while replies are awaited",
            quick: true
        ) { context in
            try await endure(context, answers: false) { $0 % 5 == 0 ? .cutInTheMiddle : .pass }
        },
        Scenario("F27", "replies arrive byte by byte") { context in
            try await endure(context, slice: 1) { _ in .pass }
        },
        Scenario("F27b", "replies stop in the middle of a job, and their connection stays silent", stall),
    ]

    /// A missing reply is not awaited longer than any other; the call is then repeated over another connection.
    private static func stall(_ context: ScenarioContext) async throws {
        context.rules { $0.forbidsDuplicates = true }
        let server = try context.server()
        let proxy = try context.proxy(server)
        let line = DyingConnection(proxy)
        let worker = try await context.worker { $0.url = proxy.url }
        for _ in 0..<context.size(quick: 2, full: 20) {
            let before = try connections(server)
            let injections = line.injections
            line.arm()
            let ids = try await context.push(10, "mark") { $0.pad = 200 }
            try await context.recovers("the jobs end", within: .seconds(10)) {
                ids.allSatisfy { context.ledger.ended[$0] != nil }
            }
            context.injected(line.injections - injections, or: "no answer stopped")
            let after = try connections(server)
            context.expect(!after.isSubset(of: before), "no new connection was made")
        }
        context.expect(context.sessions(of: worker).count == 1, "the session was lost")
        let totals = try await context.totals()
        context.expect(totals["recovered"] == 0, "\(totals["recovered"]) jobs were recovered")
    }

    /// The connections of workers except those of heartbeats, by the server's ids.
    private static func connections(_ server: RedisServer) throws -> Set<String> {
        let clients = try server.run("CLIENT", "LIST").split(separator: "\n")
        let workers = clients.filter { $0.contains(" name=errand-fault-worker ") }
        return Set(workers.compactMap { $0.split(separator: " ").first.map(String.init) })
    }

    /// Calls each script in a job's life through a bad network with faults; each job runs once.
    ///
    /// - Parameter answers: Whether an affected call is executed and answered, lost or not.
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
            // No treatment spares the very first call.
            let treatment = treat(windows.injects(name) ? 0 : number)
            if treatment != .pass || slice != .max { calls.injection(name, request) }
            return treatment
        }
        let broker = try context.connect(proxy.url)
        let every = EveryScript(context: context, server: server, url: proxy.url, broker: broker, windows: windows)
        let held = try await every.run()
        proxy.treat { _ in .pass }
        for script in EveryScript.names {
            context.injected(calls.injections(of: script), or: "no call of \(script) was injected")
        }
        if answers {
            expectEffects(context, calls, windows, proxy)
        } else {
            context.expectInjection(windows.isSpent("recover"), "no recovery was injected when there was one to do")
            try await TornPipelines.endure(context, server, proxy, times: context.size(quick: 2, full: 20))
        }
        try await expectOnce(context, butFor: held)
    }

    /// Checks that calls that changed something were affected, too.
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

    /// Checks that each job has run once, except those of a dead worker, and only these were recovered.
    private static func expectOnce(_ context: ScenarioContext, butFor held: [String]) async throws {
        try await context.drain()
        let twice = context.ledger.begun.filter { $0.value > 1 }
        let isRight = Set(twice.keys) == Set(held) && twice.values.allSatisfy { $0 == 2 }
        context.expect(isRight, "ran more than once: \(twice), and only \(held) should have, twice")
        let recovered = try await context.totals()["recovered"]
        context.expect(recovered == held.count, "\(recovered) jobs were recovered, not \(held.count)")
    }
}
