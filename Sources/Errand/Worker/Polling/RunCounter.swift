import Synchronization

/// Counts the runs of a queue's operations until they are recorded at the broker.
///
/// Every run is counted, so this must cost next to nothing: the statistics of the last operation are at hand, because the
/// next run is mostly one of the same.
final class RunCounter: Sendable {
    private struct Counted {
        var operation = ""
        var statistics = RunStatistics()
        var others: [String: RunStatistics] = [:]

        /// Makes the statistics of this operation those at hand.
        mutating func turn(to next: String) {
            if statistics.runs > 0 { others[operation] = statistics }
            statistics = others.removeValue(forKey: next) ?? RunStatistics()
            operation = next
        }
    }

    private let counted = Mutex(Counted())

    /// Whether nothing was counted.
    var isEmpty: Bool { counted.withLock { $0.statistics.runs == 0 && $0.others.isEmpty } }

    /// Counts a run. Both times are in milliseconds.
    func count(_ ending: RunEnding, of operation: String, waited: Int, ran: Int) {
        counted.withLock { counted in
            if counted.operation != operation { counted.turn(to: operation) }
            counted.statistics.add(ending, waited: waited, ran: ran)
        }
    }

    /// Returns what was counted, and begins anew.
    func take() -> [String: RunStatistics] {
        counted.withLock { counted in
            counted.turn(to: "")
            defer { counted = Counted() }
            return counted.others
        }
    }

    /// Counts again what could not be recorded.
    func putBack(_ runs: [String: RunStatistics]) {
        counted.withLock { counted in
            counted.turn(to: "")
            for (operation, statistics) in runs {
                counted.others[operation, default: RunStatistics()].merge(statistics)
            }
        }
    }
}
