import Foundation
import TestSupport

/// Plays scenarios one after the other and tells what came of each.
struct FaultRunner {
    let isFull: Bool
    let seed: UInt64
    let keepsFiles: Bool

    /// Plays one scenario to its end, or until its time is over.
    func run(_ scenario: Scenario) async -> FaultReport {
        var report = FaultReport(scenario: scenario.id, title: scenario.title, seed: seed)
        let began = ContinuousClock.now
        let missing = scenario.needs.filter { !$0.isMet }
        guard missing.isEmpty else {
            report.problems = ["needs " + missing.map(\.rawValue).joined(separator: ", ")]
            return report
        }
        do {
            let play = try Play(isFull: isFull, seed: seed)
            do {
                try await Self.within(isFull ? scenario.limit * 4 : scenario.limit) { try await scenario.body(play) }
                try await play.settle()
            } catch {
                play.expect(false, "\(error)")
            }
            await play.end(keepsFiles: keepsFiles)
            play.fill(&report)
        } catch {
            report.problems.append("\(error)")
        }
        report.seconds = (ContinuousClock.now - began) / .seconds(1)
        return report
    }

    private static func within(_ limit: Duration, _ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: limit)
                throw TestFailure("the scenario did not end within \(limit)")
            }
            try await group.next()
            group.cancelAll()
        }
    }
}
