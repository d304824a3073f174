import ArgumentParser
import Errand
import ErrandOperator

/// What queues are sorted by.
enum QueueOrder: String, CaseIterable, ExpressibleByArgument {
    case name, ready, running, retrying, dead, scheduled, oldest, pushed, finished, failed

    /// Returns the queues in this order: numbers from the largest, equal ones by name.
    func sorted(_ queues: [QueueStatus]) -> [QueueStatus] {
        guard self != .name else { return queues.sorted { $0.name < $1.name } }
        return queues.sorted { (number(of: $1), $0.name) < (number(of: $0), $1.name) }
    }

    private func number(of queue: QueueStatus) -> Int {
        switch self {
        case .name: 0
        case .ready: queue.ready
        case .running: queue.executing
        case .retrying: queue.retrying
        case .dead: queue.dead
        case .scheduled: queue.scheduled
        case .oldest: queue.oldestReadyMilliseconds
        case .pushed, .finished, .failed: queue.totals[rawValue]
        }
    }
}

/// What workers are sorted by.
enum WorkerOrder: String, CaseIterable, ExpressibleByArgument {
    case host, running, beat

    /// Returns the workers in this order: numbers from the largest, equal ones by host.
    func sorted(_ workers: [Overview.Worker]) -> [Overview.Worker] {
        switch self {
        // An overview has them in this order.
        case .host: workers
        case .running: byNumber(workers) { $0.session.executing }
        case .beat: byNumber(workers) { $0.session.lastBeatMilliseconds }
        }
    }

    private func byNumber(_ workers: [Overview.Worker], _ number: (Overview.Worker) -> Int) -> [Overview.Worker] {
        let ordered = workers.enumerated().sorted {
            (number($1.element), $0.offset) < (number($0.element), $1.offset)
        }
        return ordered.map(\.element)
    }
}
