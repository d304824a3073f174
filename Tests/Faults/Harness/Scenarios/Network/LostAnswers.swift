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

    /// Jobs are pushed one by one and run through a bad network; each runs once.
    private static func endure(
        _ play: Play,
        slice: Int = .max,
        _ treat: @escaping @Sendable (_ number: Int) -> ChaosProxy.Treatment
    ) async throws {
        play.rules { $0.forbidsDuplicates = true }
        let proxy = try play.proxy(play.server())
        let calls = ScriptCalls()
        proxy.slice(slice)
        proxy.treat { request in
            guard let (_, number) = calls.note(request) else { return .pass }
            let treatment = treat(number)
            if treatment != .pass || slice != .max { play.struck() }
            return treatment
        }
        _ = try await play.workers(2) { $0.url = proxy.url }
        let broker = try play.connect(proxy.url)
        for number in 0..<play.size(quick: 60, full: 600) {
            try await play.push(1, "nap", via: broker) {
                $0.milliseconds = 20
                $0.name = "\(number)"
                $0.unique = number % 2 == 0 ? .drop : .replace
            }
        }
        try await play.drain(within: .seconds(120))
        for script in ["push", "register", "exchange", "heartbeat", "recover", "promote"] {
            play.expect(calls.count(script) > 0, "\(script) was never called")
        }
        proxy.treat { _ in .pass }
        let totals = try await play.totals()
        play.expect(totals["recovered"] == 0, "\(totals["recovered"]) jobs were taken back")
    }
}
