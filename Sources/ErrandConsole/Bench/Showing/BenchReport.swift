import ErrandCommandLine
import ErrandOperator
import Foundation

/// The figures as a table for people and as one object for programs.
struct BenchReport {
    let figures: BenchFigures
    let facts: BenchFacts
    let jobs: Int
    let runs: Int

    // MARK: For people

    /// Writes the table.
    func print() {
        for line in facts.lines { StandardOutput.write(line) }
        StandardOutput.write("")
        var table = TextTable([
            ("", .left), ("median", .right), ("least", .right), ("most", .right), ("of the server's ceiling", .right),
        ])
        for row in Self.rows {
            guard let median = figures.median(row.kind), let range = figures.range(row.kind) else { continue }
            let share = row.ceiling.flatMap { figures.median($0) }.map { String(format: "%.2f", median / $0) } ?? ""
            table.add([
                .init(row.title), .init(row.unit.text(median)), .init(row.unit.text(range.lowerBound)),
                .init(row.unit.text(range.upperBound)), .init(share),
            ])
        }
        table.print()
    }

    private enum Unit {
        case rate, milliseconds, number, bytes, megabytes, percent

        func text(_ value: Double) -> String {
            switch self {
            case .rate: String(format: "%.0f/s", value)
            case .milliseconds: String(format: "%.2f ms", value)
            case .number: String(format: "%.3f", value)
            case .bytes: String(format: "%.0f B", value)
            case .megabytes: String(format: "%.1f MB", value / 1e6)
            case .percent: String(format: "%.2f %%", value * 100)
            }
        }
    }

    private typealias Row = (title: String, kind: BenchFigures.Kind, unit: Unit, ceiling: BenchFigures.Kind?)

    private static let rows: [Row] = [
        ("server alone: push, one job a call", .ceilingPushSingle, .rate, nil),
        ("server alone: push, 50 jobs a call", .ceilingPushBatch, .rate, nil),
        ("server alone: claim + finish, 50 jobs a call", .ceilingClaimFinish, .rate, nil),
        ("push, awaited one by one", .pushAwaited, .rate, .ceilingPushSingle),
        ("push, from \(PushBench.tasks) tasks at once", .pushConcurrent, .rate, .ceilingPushBatch),
        ("push, \(PushBench.portion) a call", .pushBulk, .rate, .ceilingPushBatch),
        ("drain, handlers that do nothing", .drain, .rate, .ceilingClaimFinish),
        ("drain, async handlers", .drainAsynchronous, .rate, .ceilingClaimFinish),
        ("drain, child processes", .drainChildren, .rate, nil),
        ("push and drain at once", .mixed, .rate, nil),
        ("unique push, all new", .uniqueNew, .rate, .ceilingPushBatch),
        ("unique push, all duplicates", .uniqueDrop, .rate, .ceilingPushBatch),
        ("unique push, all replaced", .uniqueReplace, .rate, .ceilingPushBatch),
        ("pick-up by one idle worker, median", .pickup50, .milliseconds, nil),
        ("pick-up, 95 of 100", .pickup95, .milliseconds, nil),
        ("pick-up, 99 of 100", .pickup99, .milliseconds, nil),
        ("pick-up, slowest", .pickupMost, .milliseconds, nil),
        ("pick-up by 200 idle workers, median", .pickup200Idle50, .milliseconds, nil),
        ("pick-up, 95 of 100", .pickup200Idle95, .milliseconds, nil),
        ("pick-up, 99 of 100", .pickup200Idle99, .milliseconds, nil),
        ("pick-up, slowest", .pickup200IdleMost, .milliseconds, nil),
        ("commands a job in a drain", .commandsPerJob, .number, nil),
        ("server's processor a job in a drain, µs", .serverMicrosecondsPerJob, .number, nil),
        ("worker's processor a job in a drain, µs", .workerMicrosecondsPerJob, .number, nil),
        ("bytes over the network a job in a drain", .networkBytesPerJob, .bytes, nil),
        ("Redis memory a waiting job", .bytesPerWaitingJob, .bytes, nil),
        ("memory of the worker in a drain", .workerBytes, .megabytes, nil),
        ("commands a second of an idle worker", .idleCommandsPerSecond, .number, nil),
        ("processor of an idle worker", .idleProcessorShare, .percent, nil),
    ]

    // MARK: For programs

    /// One object.
    var json: JSONOutput {
        [
            "jobs": .count(jobs), "runs": .count(runs),
            "ceiling": [
                "push_single": rate(.ceilingPushSingle), "push_batch": rate(.ceilingPushBatch),
                "claim_finish_batch": rate(.ceilingClaimFinish),
            ],
            "push_awaited": rate(.pushAwaited), "push_concurrent": rate(.pushConcurrent), "push_bulk": rate(.pushBulk),
            "drain": rate(.drain), "drain_async": rate(.drainAsynchronous), "drain_run": rate(.drainChildren),
            "mixed": rate(.mixed),
            "unique": ["new": rate(.uniqueNew), "drop": rate(.uniqueDrop), "replace": rate(.uniqueReplace)],
            "pickup_ms": percentiles([.pickup50, .pickup95, .pickup99, .pickupMost]),
            "pickup_200_idle_ms": percentiles([
                .pickup200Idle50, .pickup200Idle95, .pickup200Idle99, .pickup200IdleMost,
            ]),
            "commands_per_job": exact(.commandsPerJob), "server_us_per_job": exact(.serverMicrosecondsPerJob),
            "worker_us_per_job": exact(.workerMicrosecondsPerJob),
            "network_bytes_per_job": rate(.networkBytesPerJob), "bytes_per_waiting_job": rate(.bytesPerWaitingJob),
            "worker_rss_bytes": rate(.workerBytes), "idle_commands_per_s": exact(.idleCommandsPerSecond),
            "idle_processor_share": exact(.idleProcessorShare), "spread": spread, "settings": facts.json,
        ]
    }

    /// The smallest and the largest of all runs, by the name of the figure.
    private var spread: JSONOutput {
        .object(
            BenchFigures.Kind.allCases.compactMap { kind in
                figures.range(kind).map {
                    (key: kind.rawValue, value: .list([exact($0.lowerBound), exact($0.upperBound)]))
                }
            }
        )
    }

    private func percentiles(_ kinds: [BenchFigures.Kind]) -> JSONOutput {
        .object(zip(["p50", "p95", "p99", "max"], kinds).map { (key: $0, value: exact($1)) })
    }

    private func rate(_ kind: BenchFigures.Kind) -> JSONOutput {
        figures.median(kind).map { .count(Int($0.rounded())) } ?? .null
    }

    private func exact(_ kind: BenchFigures.Kind) -> JSONOutput { figures.median(kind).map(exact) ?? .null }

    private func exact(_ value: Double) -> JSONOutput { .written(Array(String(format: "%.4g", value).utf8)) }
}
