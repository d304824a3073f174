import Errand
import ErrandCommandLine
import ErrandOperator

/// A count of imported jobs that were not pushed because a job with the same id had ended recently.
struct ImportRepetitions {
    private var ended: [JobState: Int] = [:]

    /// Looks up the jobs whose ids existed already.
    mutating func look(at receipts: [Receipt], on broker: any ConsoleBroker) async throws(BrokerError) {
        let known = receipts.filter { $0.outcome == .exists }
        for (queue, receipts) in Dictionary(grouping: known, by: \.queue) {
            for record in try await broker.inspect(receipts.map(\.id), on: queue) {
                // If the id has been forgotten since, its job had ended.
                let state = record?.state ?? .deleted
                if state.hasEnded, state != .dead { ended[state, default: 0] += 1 }
            }
        }
    }

    /// The failure if jobs are missing; `nil` if all exist.
    var failure: CommandFailure? {
        let counts = ended.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.value) \($0.key.rawValue)" }
        if counts.isEmpty { return nil }
        let total = ended.values.reduce(0, +)
        return CommandFailure(
            "\(total.counted("job")) not restored: jobs of the same ids ended a short time ago (\(counts.joined(separator: ", "))), "
                + "so their queues took the lines for repetitions. Import the file again in two minutes (a job that is there is not "
                + "pushed a second time), or give every job a new id with --new-ids",
            ExitStatus.unsuccessful
        )
    }
}
