import Errand
import ErrandOperator

extension BulkRuns {
    /// The number of jobs between two checks for a stop.
    private static let portion = 500

    /// Performs an action and reports its outcome to `tell`.
    func perform(
        _ id: String,
        _ action: BulkAction,
        with jobs: Jobs,
        on broker: any Broker,
        _ tell: @Sendable (_ outcome: String) -> Void
    ) async {
        let stage: BulkRun.Stage
        do {
            let isThrough =
                switch jobs {
                case .found(let select): try await act(id, action, try await select(), on: broker)
                case .waiting(let queue): try await clear(queue, id, on: broker)
                }
            stage = isThrough ? .ended : .stopped
        } catch {
            stage = .failed(PageProblem(explaining: error).message)
            if error is CountExceeded { change(id) { $0.exceededCount = true } }
        }
        guard var run = self.run(id) else { return }
        run.stage = stage
        // Log the outcome before the page shows it.
        tell(run.outcome)
        change(id) { $0.stage = stage }
    }

    /// - Returns: Whether all jobs were processed; `false` if the run was stopped.
    private func act(
        _ id: String,
        _ action: BulkAction,
        _ found: JobQuestion.Found,
        on broker: any Broker
    ) async throws -> Bool {
        if Task.isCancelled { return false }
        let selection = found.selection
        change(id) {
            ($0.total, $0.late, $0.isComplete) = (selection.count, found.late, found.isComplete)
            $0.problems = found.unreadable.map(\.description)
        }
        for (queue, ids) in selection.ids.sorted(by: { $0.key < $1.key }) {
            for start in stride(from: 0, to: ids.count, by: Self.portion) {
                if Task.isCancelled { return false }
                let part = Array(ids[start..<min(start + Self.portion, ids.count)])
                let tally = await action.run(JobSelection(of: part, in: queue), on: broker)
                change(id) { $0.add(tally) }
                guard let failure = tally.failure else { continue }
                guard failure.isOfOnePlace else { throw failure }
                // A corrupt queue does not affect the others.
                let left = (ids.count - start).counted("job")
                change(id) { $0.problems.append("\(left) of queue \(queue) left: \(failure.message)") }
                break
            }
        }
        return true
    }

    private func clear(_ queue: String, _ id: String, on broker: any Broker) async throws -> Bool {
        let waiting = try await QueueClearing(of: queue, on: broker).count()
        change(id) { $0.total = waiting }
        while !Task.isCancelled {
            // The limit keeps the sum far from an overflow, whatever a broker returns.
            let count = min(try await broker.clear(queue), 1_000_000)
            guard count > 0 else {
                // Workers may have claimed some of the counted jobs.
                change(id) { $0.total = $0.through }
                return true
            }
            var tally = BulkAction.Tally()
            (tally.done, tally.outcomes) = (count, [EndingOutcome.cancelled.rawValue: count])
            change(id) { $0.add(tally) }
        }
        return false
    }
}
