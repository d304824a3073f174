import Errand
import ErrandOperator
import ErrandText

/// The values for the templates of queues and servers.
struct QueueViews {
    let sampler: Sampler

    func row(_ queue: QueueStatus) -> [String: Any] {
        let rates = sampler.rates(of: queue.name)
        let counts: [(JobState, Int)] = [
            (.ready, queue.ready), (.scheduled, queue.scheduled), (.running, queue.executing),
            (.retrying, queue.retrying),
            (.deferred, queue.deferred), (.blocked, queue.blocked), (.dead, queue.dead),
        ]
        return [
            "name": queue.name,
            "counts": counts.map { state, count in
                [
                    "queue": queue.name, "state": state.rawValue, "count": count.grouped,
                    "isBad": state == .dead && count > 0, "isZero": count == 0,
                ] as [String: Any]
            },
            "oldest": queue.oldestReadyMilliseconds > 0 ? TimeSpanText.rounded(queue.oldestReadyMilliseconds) : "–",
            "pushed": rates.pushed.rateText, "finished": rates.finished.rateText, "failed": rates.failed.rateText,
            "isPushing": rates.pushed > 0, "isFinishing": rates.finished > 0, "isFailing": rates.failed > 0,
            "isPaused": queue.isPaused,
        ]
    }

    func server(_ server: ServerState) -> [String: Any] {
        [
            "address": server.address, "role": server.follows.map { "replica of \($0)" } ?? "master",
            "state": server.isReachable ? "ok" : "no reply", "isLost": !server.isReachable,
            "queues": server.queues.joined(separator: ", "),
        ]
    }

    func cards(_ overview: Overview, _ rates: Rates) -> [[String: Any]] {
        let queues = overview.queues
        func sum(_ count: (QueueStatus) -> Int) -> Int {
            queues.reduce(0) { $0.addingReportingOverflow(count($1)).partialValue }
        }
        let slots = overview.workers.reduce(0) { $0.addingReportingOverflow($1.session.concurrency).partialValue }
        let oldest = queues.map(\.oldestReadyMilliseconds).filter { $0 > 0 }.max()
        let dead = sum(\.dead)
        func card(_ title: String, _ value: String, isBad: Bool = false) -> [String: Any] {
            ["title": title, "value": value, "isBad": isBad, "isZero": ["0", "–"].contains(value)]
        }
        return [
            card("ready", sum(\.ready).grouped), card("oldest ready", oldest.map { TimeSpanText.rounded($0) } ?? "–"),
            card("later", sum { $0.scheduled.addingReportingOverflow($0.retrying).partialValue }.grouped),
            card("running", "\(sum(\.executing).grouped) of \(slots.grouped)"),
            card("finished/s", rates.finished.rateText),
            card("failed/s", rates.failed.rateText, isBad: rates.failed > 0),
            card("dead", dead.grouped, isBad: dead > 0),
            card("workers", overview.workers.count.grouped, isBad: overview.workers.isEmpty && sum(\.ready) > 0),
        ]
    }
}
