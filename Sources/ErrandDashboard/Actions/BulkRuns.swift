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

    /// With which jobs it is done.
    enum Jobs: Sendable {
        /// Those that are found, and no others.
        case found(@Sendable () async throws -> JobSelection)
        /// Whatever waits in a queue, to cancel it.
        case waiting(queue: String)
    }

    private static let kept = 50

    private let runs = Mutex<[(id: String, run: Run)]>([])

    func run(_ id: String) -> Run? { runs.withLock { runs in runs.first { $0.id == id }?.run } }

    /// Starts an action.
    ///
    /// - Parameter end: told what became of it.
    /// - Returns: the run's id.
    func start(
        _ action: BulkAction,
        with jobs: Jobs,
        on broker: any Broker,
        back: String,
        end: @escaping @Sendable (String) -> Void
    ) -> String {
        let id = UUID().uuidString.lowercased()
        runs.withLock { runs in
            runs.append((id, Run(action: action, back: back)))
            if runs.count > Self.kept { runs.removeFirst() }
        }
        Task.detached { [self] in
            do {
                let outcome = try await go(id, action, with: jobs, on: broker)
                change(id) { $0.isGoing = false }
                end(outcome)
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

    private func go(
        _ id: String,
        _ action: BulkAction,
        with jobs: Jobs,
        on broker: any Broker
    ) async throws -> String {
        switch jobs {
        case .found(let select):
            let selection = try await select()
            change(id) { $0.total = selection.count }
            let tally = try await action.run(selection, on: broker) { through in change(id) { $0.through = through } }
            change(id) { $0.verdicts = tally.verdicts }
            return "\(tally.done) done, \(tally.missed) not"
        case .waiting(let queue):
            let clearing = QueueClearing(of: queue, on: broker)
            let count = try await clearing.count()
            change(id) { $0.total = count }
            let cancelled = try await clearing.run { through in
                change(id) { ($0.through, $0.total) = (through, max($0.total, through)) }
            }
            change(id) { run in
                run.total = cancelled
                run.verdicts = cancelled > 0 ? [EndingVerdict.cancelled.rawValue: cancelled] : [:]
            }
            return "\(cancelled) done"
        }
    }

    private func change(_ id: String, _ change: (inout Run) -> Void) {
        runs.withLock { runs in
            guard let index = runs.firstIndex(where: { $0.id == id }) else { return }
            change(&runs[index].run)
        }
    }
}
