import Errand
import ErrandOperator
import ErrandText

/// What an operator should look at first, each with a link to its list.
struct OverviewProblems {
    private static let mostOfAKind = 5
    private static let longWait = 60_000

    private let overview: Overview
    private let served: Set<String>

    init(_ overview: Overview) {
        self.overview = overview
        served = Set(overview.workers.filter { !$0.isLost }.flatMap(\.queues))
    }

    /// The lines for the template, the worst first.
    var all: [[String: Any]] {
        [servers, unserved, unroutable, lostWorkers, dead, late, paused].flatMap(\.self)
    }

    private var servers: [[String: Any]] {
        limited(overview.unreachable.map { ("\($0) does not reply", "#servers") })
    }

    private var unserved: [[String: Any]] {
        let queues = overview.queues.filter { $0.ready > 0 && !$0.isPaused && !served.contains($0.name) }
        return limited(
            queues.map { ("No worker serves \($0.name): \($0.ready.counted("ready job"))", "/queues/\($0.name)") }
        )
    }

    private var unroutable: [[String: Any]] {
        let waiting = overview.queues.flatMap { queue in
            queue.unknownOperations.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { operation, jobs in
                (
                    "No worker knows the operation \(operation): \(jobs.counted("job")) in \(queue.name)",
                    "/jobs?state=ready&queue=\(queue.name)&operation=\(FormFields.encode(operation))"
                )
            }
        }
        return limited(waiting)
    }

    private var lostWorkers: [[String: Any]] {
        let lost = overview.workers.filter(\.isLost)
        return lost.isEmpty ? [] : [line("\(lost.count.counted("worker")) without a heartbeat", "/workers")]
    }

    private var dead: [[String: Any]] {
        let dead = overview.queues.filter { $0.dead > 0 }
        let all = dead.reduce(0) { $0.addingReportingOverflow($1.dead).partialValue }
        guard let first = dead.first else { return [] }
        let place = dead.count == 1 ? " in \(first.name)" : " in \(dead.count) queues"
        return [line("\(all.counted("dead job"))\(place)", "/jobs?state=dead")]
    }

    private var late: [[String: Any]] {
        let late = overview.queues.filter {
            $0.oldestReadyMilliseconds >= Self.longWait && !$0.isPaused && served.contains($0.name)
        }
        return limited(
            late.sorted { $0.oldestReadyMilliseconds > $1.oldestReadyMilliseconds }.map { queue in
                let wait = TimeSpanText.rounded(queue.oldestReadyMilliseconds)
                return ("A job has been waiting in \(queue.name) for \(wait)", "/jobs?state=ready&queue=\(queue.name)")
            }
        )
    }

    private var paused: [[String: Any]] {
        let paused = overview.queues.filter { $0.isPaused && $0.ready > 0 }
        return limited(paused.map { ("\($0.name) is paused: \($0.ready.counted("ready job"))", "/queues/\($0.name)") })
    }

    /// The first lines of a kind, and how many more there are.
    private func limited(_ problems: [(words: String, place: String)]) -> [[String: Any]] {
        let shown = problems.prefix(Self.mostOfAKind).map { line($0.words, $0.place) }
        let rest = problems.count - shown.count
        guard rest > 0, let last = problems.last else { return shown }
        return shown + [line("and \(rest) more like this", last.place)]
    }

    private func line(_ words: String, _ place: String) -> [String: Any] {
        ["words": words, "place": place, "isOnPage": place.hasPrefix("#")]
    }
}
