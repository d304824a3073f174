import Errand

/// The broker's own counters in Prometheus' text format.
///
/// They are read from the broker on every request, so every process returns the same values, and a restart does not
/// reset them.
package struct MetricsText {
    typealias Sample = PrometheusText.Sample

    var writer = PrometheusText()

    /// Writes the metrics of queues and workers.
    ///
    /// - Parameter runs: The runs of the operations of each queue since it was created.
    package static func text(of overview: Overview, runs: [OperationTimes] = []) -> String {
        var metrics = MetricsText()
        metrics.write(overview.queues)
        metrics.write(overview.workers)
        metrics.write(runs)
        metrics.writer.family(
            "errand_queue_unreadable",
            "gauge",
            "1 for a queue that cannot be read; its other metrics are missing.",
            overview.unreadable.map { Sample([("queue", $0.queue)], 1) }
        )
        metrics.writer.family(
            "errand_server_up",
            "gauge",
            "Of a cluster: 1 for a server that replies, 0 for one that does not.",
            overview.servers.map { server in
                let role = server.follows == nil ? "master" : "replica"
                return Sample([("server", server.address), ("role", role)], server.isReachable ? 1 : 0)
            }
        )
        return metrics.writer.text
    }

    private mutating func write(_ queues: [QueueStatus]) {
        let states: [JobState] = [.ready, .scheduled, .running, .retrying, .deferred, .blocked, .dead]
        writer.family(
            "errand_jobs",
            "gauge",
            "Jobs by state.",
            queues.flatMap { queue in
                states.map {
                    Sample([("queue", queue.name), ("state", $0.rawValue)], Double(queue.count(of: $0) ?? 0))
                }
            }
        )
        writer.family(
            "errand_oldest_ready_seconds",
            "gauge",
            "How long the oldest ready job has been waiting, without those that no worker can run.",
            queues.map { Sample([("queue", $0.name)], Double($0.oldestReadyMilliseconds) / 1000) }
        )
        writer.family(
            "errand_oldest_unroutable_seconds",
            "gauge",
            "How long the oldest ready job has been waiting that no worker can run.",
            queues.map { Sample([("queue", $0.name)], Double($0.oldestUnroutableMilliseconds) / 1000) }
        )
        writer.family(
            "errand_queue_paused",
            "gauge",
            "1 while the queue is paused.",
            queues.map { Sample([("queue", $0.name)], $0.isPaused ? 1 : 0) }
        )
        writer.family(
            "errand_unknown_operation_jobs",
            "gauge",
            "Ready jobs of operations that no worker has.",
            queues.flatMap { queue in
                queue.unknownOperations.sorted { $0.key < $1.key }.map {
                    Sample([("queue", queue.name), ("operation", $0.key)], Double($0.value))
                }
            }
        )
        writeTotals(queues)
    }

    private mutating func writeTotals(_ queues: [QueueStatus]) {
        writer.family(
            "errand_events_total",
            "counter",
            "What happened to jobs and workflows since the queue exists.",
            queues.flatMap { queue in
                QueueStatus.Totals.names.map {
                    Sample([("queue", queue.name), ("event", $0)], Double(queue.totals[$0]))
                }
            }
        )
    }

    private mutating func write(_ workers: [Overview.Worker]) {
        var byQueue: [String: Double] = [:]
        for worker in workers { for queue in worker.queues { byQueue[queue, default: 0] += 1 } }
        writer.family(
            "errand_queue_workers",
            "gauge",
            "Worker sessions that serve the queue.",
            byQueue.sorted { $0.key < $1.key }.map {
                Sample([("queue", $0.key)], $0.value)
            }
        )
        func sum(_ count: (SessionStatus) -> Int) -> Double { workers.reduce(0) { $0 + Double(count($1.session)) } }
        writer.family("errand_workers", "gauge", "Worker sessions.", [Sample([], Double(workers.count))])
        writer.family(
            "errand_worker_slots",
            "gauge",
            "Jobs that all workers can run at once.",
            [Sample([], sum(\.concurrency))]
        )
        writer.family("errand_worker_slots_busy", "gauge", "Slots in which jobs run.", [Sample([], sum(\.executing))])
    }
}
