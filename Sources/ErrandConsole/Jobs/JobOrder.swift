import ArgumentParser
import Errand
import ErrandOperator

/// What a table of jobs is sorted by.
enum JobOrder: String, CaseIterable, ExpressibleByArgument {
    case time, queue, state, operation, name, attempt

    /// Returns the jobs in this order: times from the latest, attempts from the most, equal ones as they were.
    func sorted(_ jobs: [JobSummary]) -> [JobSummary] {
        switch self {
        case .time: jobs.sortedStably { ($0.time ?? .min) > ($1.time ?? .min) }
        case .queue: jobs.sortedStably { $0.queue < $1.queue }
        case .state: jobs.sortedStably { $0.record.state.rawValue < $1.record.state.rawValue }
        case .operation: jobs.sortedStably { ($0.operation ?? "") < ($1.operation ?? "") }
        case .name: jobs.sortedStably { ($0.name ?? "") < ($1.name ?? "") }
        case .attempt: jobs.sortedStably { ($0.attempt ?? 0) > ($1.attempt ?? 0) }
        }
    }
}

extension [JobSummary] {
    fileprivate func sortedStably(_ areInOrder: (JobSummary, JobSummary) -> Bool) -> [JobSummary] {
        let ordered = enumerated().sorted { first, second in
            if areInOrder(first.element, second.element) { return true }
            return !areInOrder(second.element, first.element) && first.offset < second.offset
        }
        return ordered.map(\.element)
    }
}
