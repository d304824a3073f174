import Foundation
import TestSupport

/// Runs scenarios one after the other and reports each result.
struct FaultRunner {
    let isFull: Bool
    let seed: UInt64
    let keepsFiles: Bool

    /// Runs one scenario until it ends or its time is over.
    func run(_ scenario: Scenario) async -> FaultReport {
        var report = FaultReport(scenario: scenario.id, title: scenario.title, seed: seed)
        let began = ContinuousClock.now
        let missing = scenario.needs.filter { !$0.isMet }
        guard missing.isEmpty else {
            report.problems = ["needs " + missing.map(\.rawValue).joined(separator: ", ")]
            return report
        }
        do {
            let context = try ScenarioContext(isFull: isFull, seed: seed)
            await perform(scenario, on: context)
            await context.end(keepsFiles: keepsFiles)
            context.fill(&report)
        } catch {
            report.problems.append("\(error)")
        }
        report.seconds = (ContinuousClock.now - began) / .seconds(1)
        return report
    }

    /// The accounts are compared in any case, because a timeout of the body may be due to a lost job.
    private func perform(_ scenario: Scenario, on context: ScenarioContext) async {
        do {
            try await Self.within(isFull ? scenario.limit * 4 : scenario.limit) { try await scenario.body(context) }
        } catch {
            context.fails(error)
            await context.halt()
        }
        do { try await context.settle() } catch { context.expect(false, "the books could not be compared: \(error)") }
    }

    private static func within(_ limit: Duration, _ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: limit)
                throw TestFailure("the scenario did not end within \(limit)", isOfTime: true)
            }
            try await group.next()
            group.cancelAll()
        }
    }
}
