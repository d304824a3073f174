import Errand
import Foundation
import TestSupport

/// Networks that lose, double and cut what goes through them.
extension Scenario {
    static let lostAnswers = [
        Scenario("F23", "of each script's calls every fourth is carried out, and its answer lost", quick: true) {
            play in
            try await endure(play) { $0 % 4 == 0 ? .loseAnswer : .pass }
        },
        Scenario("F24", "of each script's calls every second arrives twice", quick: true) { play in
            try await endure(play) { $0 % 2 == 0 ? .twice : .pass }
        },
        Scenario("F25", "connections are reset in the middle of a request", quick: true) { play in
            try await endure(play) { $0 % 5 == 0 ? .cutInTheMiddle : .pass }
        },
        Scenario("F27", "answers come byte by byte") { play in
            try await endure(play, slice: 1) { _ in .pass }
        },
    ]

    /// Each script that a job meets in its life is called through a bad network, and struck; each job runs once.
    private static func endure(
        _ play: Play,
        slice: Int = .max,
        _ treat: @escaping @Sendable (_ number: Int) -> ChaosProxy.Treatment
    ) async throws {
        play.rules { $0.forbidsDuplicates = true }
        let server = try play.server()
        try server.learnScripts()
        let proxy = try play.proxy(server)
        let calls = ScriptCalls()
        proxy.slice(slice)
        proxy.treat { request in
            guard let (name, number) = calls.note(request) else { return .pass }
            let treatment = treat(number)
            if treatment != .pass || slice != .max { calls.strike(name) }
            return treatment
        }
        let broker = try play.connect(proxy.url)
        try await EveryScript(play: play, server: server, url: proxy.url, broker: broker).run()
        proxy.treat { _ in .pass }
        for script in EveryScript.names {
            play.struck(calls.strikes(on: script), or: "no call of \(script) was struck")
        }
        let totals = try await play.totals()
        play.expect(totals["recovered"] == 0, "\(totals["recovered"]) jobs were taken back")
    }
}
