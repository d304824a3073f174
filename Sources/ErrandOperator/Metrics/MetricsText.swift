import Errand

/// The broker's own counters in Prometheus' text format, version 0.0.4.
///
/// They are read from the broker whenever they are asked for, so they are right whichever process is asked, and go on when
/// it is started anew.
package struct MetricsText {
    private var text = ""

    /// Writes the metrics of queues and workers.
    package static func text(of overview: Overview) -> String {
        var writer = MetricsText()
        writer.write(overview.queues)
        writer.write(overview.workers)
        return writer.text
    }

    private mutating func write(_ queues: [QueueStatus]) {
        let states: [JobState] = [.ready, .scheduled, .running, .retrying, .deferred, .dead]
        family(
            "errand_jobs",
            "gauge",
            "Jobs by state.",
            queues.flatMap { queue in
                states.map { ([("queue", queue.name), ("state", $0.rawValue)], Double(queue.count(of: $0))) }
            }
        )
        family(
            "errand_oldest_ready_seconds",
            "gauge",
            "How long the oldest job in line has been waiting.",
            queues.map {
                ([("queue", $0.name)], Double($0.oldestReadyMilliseconds) / 1000)
            }
        )
        family(
            "errand_queue_paused",
            "gauge",
            "1 while the queue is paused.",
            queues.map {
                ([("queue", $0.name)], $0.isPaused ? 1 : 0)
            }
        )
        family(
            "errand_unknown_operation_jobs",
            "gauge",
            "Jobs in line of operations that no worker knows.",
            queues.flatMap { queue in
                queue.unknownOperations.sorted { $0.key < $1.key }.map {
                    ([("queue", queue.name), ("operation", $0.key)], Double($0.value))
                }
            }
        )
        family(
            "errand_events_total",
            "counter",
            "What happened to jobs since the queue exists.",
            queues.flatMap { queue in
                QueueStatus.Totals.names.map { ([("queue", queue.name), ("event", $0)], Double(queue.totals[$0])) }
            }
        )
    }

    private mutating func write(_ workers: [Overview.Worker]) {
        var byQueue: [String: Double] = [:]
        for worker in workers { for queue in worker.queues { byQueue[queue, default: 0] += 1 } }
        family(
            "errand_queue_workers",
            "gauge",
            "Worker sessions that serve the queue.",
            byQueue.sorted { $0.key < $1.key }.map {
                ([("queue", $0.key)], $0.value)
            }
        )
        func sum(_ count: (SessionStatus) -> Int) -> Double { workers.reduce(0) { $0 + Double(count($1.session)) } }
        family("errand_workers", "gauge", "Worker sessions.", [([], Double(workers.count))])
        family("errand_worker_slots", "gauge", "Jobs that all workers can run at once.", [([], sum(\.concurrency))])
        family("errand_worker_slots_busy", "gauge", "Jobs that workers hold.", [([], sum(\.running))])
    }

    private mutating func family(
        _ name: String,
        _ kind: String,
        _ help: String,
        _ samples: [(labels: [(String, String)], value: Double)]
    ) {
        text += "# HELP \(name) \(help)\n# TYPE \(name) \(kind)\n"
        for sample in samples {
            let labels = sample.labels.map { "\($0)=\"\(Self.escape($1))\"" }.joined(separator: ",")
            text += "\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(Self.number(sample.value))\n"
        }
    }

    private static func number(_ value: Double) -> String {
        value.rounded() == value && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
    }

    private static func escape(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
    }
}
