import Errand
import ErrandOperator

/// The status of the queues whose jobs a page lists: the numbers on its tabs, and suggestions for its filters.
struct JobCounts: Sendable {
    private static let mostSuggestions = 500

    let statuses: [QueueStatus]
    let unreadable: [UnreadablePlace]
    /// The operations that live workers can run, sorted.
    let operations: [String]
    let retries: DefaultRetries

    init(of queues: [String], on broker: any ConsoleBroker) async throws(BrokerError) {
        let read = try await queues.readingEach { queue throws(BrokerError) in try await broker.status(of: queue) }
        statuses = read.values.map(\.value.queue)
        unreadable = read.unreadable
        let known = read.values.reduce(into: Set<String>()) { known, queue in
            for session in queue.value.sessions { known.formUnion(session.operations) }
        }
        retries = DefaultRetries(read.values.flatMap(\.value.sessions))
        operations = Array(known.sorted().prefix(Self.mostSuggestions))
    }

    /// Returns the number of jobs in these states together; `nil` if it is not counted, as of ended jobs.
    func count(of states: [JobState]) -> Int? {
        var sum = 0
        for status in statuses {
            for state in states {
                guard let count = status.count(of: state) else { return nil }
                sum = sum.addingReportingOverflow(count).partialValue
            }
        }
        return states.allSatisfy { $0 == .dead || !$0.hasEnded } ? sum : nil
    }

    /// Returns the values of a list of suggestions.
    static func suggestions(_ texts: [String]) -> [[String: Any]] {
        texts.prefix(mostSuggestions).map { ["value": $0] }
    }
}
