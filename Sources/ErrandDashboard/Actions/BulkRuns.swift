import Errand
import ErrandOperator
import Foundation
import Synchronization

/// What is done with many jobs goes on by itself, and can be looked at.
final class BulkRuns: Sendable {
    struct Run: Sendable {
        let action: BulkAction
        /// Where to go back to.
        let back: String
        var total = 0
        var through = 0
        var verdicts: [String: Int] = [:]
        var problem: String?
        var isGoing = true

        var words: String {
            if let problem { return "It stopped: \(problem)" }
            if isGoing { return total == 0 ? "Looking for the jobs." : "\(through.grouped) of \(total.grouped)." }
            return total == 0
                ? "There were no such jobs." : "Done: \(through.grouped) \(through == 1 ? "job" : "jobs")."
        }
    }

    private static let kept = 50

    private let runs = Mutex<[(id: String, run: Run)]>([])

    func run(_ id: String) -> Run? { runs.withLock { runs in runs.first { $0.id == id }?.run } }

    /// Starts an action.
    ///
    /// - Parameters:
    ///   - select: finds the jobs.
    ///   - end: told what became of it.
    /// - Returns: the run's id.
    func start(
        _ action: BulkAction,
        on broker: any Broker,
        back: String,
        select: @escaping @Sendable () async throws -> JobSelection,
        end: @escaping @Sendable (String) -> Void
    ) -> String {
        let id = UUID().uuidString.lowercased()
        runs.withLock { runs in
            runs.append((id, Run(action: action, back: back)))
            if runs.count > Self.kept { runs.removeFirst() }
        }
        Task.detached { [self] in
            do {
                let selection = try await select()
                change(id) { $0.total = selection.count }
                let tally = try await action.run(selection, on: broker) { through in
                    self.change(id) { $0.through = through }
                }
                change(id) { run in
                    run.verdicts = tally.verdicts
                    run.isGoing = false
                }
                end("\(tally.done) done, \(tally.missed) not")
            } catch {
                let problem = PageProblem(explaining: error).message
                change(id) { run in
                    run.problem = problem
                    run.isGoing = false
                }
                end("stopped: \(problem)")
            }
        }
        return id
    }

    private func change(_ id: String, _ change: (inout Run) -> Void) {
        runs.withLock { runs in
            guard let index = runs.firstIndex(where: { $0.id == id }) else { return }
            change(&runs[index].run)
        }
    }
}
