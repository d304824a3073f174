import Errand
import ErrandOperator

extension BulkRuns {
    /// How many jobs are between two looks whether to stop.
    private static let portion = 500

    /// Does it, and says what became of it.
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
            if error is Outgrown { change(id) { $0.isOutgrown = true } }
        }
        guard var run = self.run(id) else { return }
        run.stage = stage
        // The log has it before the page says so.
        tell(run.outcome)
        change(id) { $0.stage = stage }
    }

    /// - Returns: whether it went through all of them, and was not told to stop.
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
                // A damaged queue does not hold up the others.
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
            // Far from a sum that overflows, whatever a broker says.
            let count = min(try await broker.clear(queue), 1_000_000)
            guard count > 0 else {
                // Workers may have taken some of those that were counted.
                change(id) { $0.total = $0.through }
                return true
            }
            var tally = BulkAction.Tally()
            (tally.done, tally.verdicts) = (count, [EndingOutcome.cancelled.rawValue: count])
            change(id) { $0.add(tally) }
        }
        return false
    }
}
