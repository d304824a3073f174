import ErrandCommandLine
import ErrandOperator
import Foundation

/// A report of the figures: a table for people, an object for programs.
struct BenchReport {
    let figures: BenchFigures
    let facts: BenchFacts
    let jobs: Int
    let runs: Int

    // MARK: For people

    /// Prints the table.
    func print() {
        for line in facts.lines { StandardOutput.write(line) }
        StandardOutput.write("")
        var table = TextTable([
            .left(""), .right("median"), .right("least"), .right("most"), .right("runs"),
            .right("of the server's ceiling"),
        ])
        for row in BenchRow.all {
            guard let value = figures.value(row.kind), let range = figures.range(row.kind) else { continue }
            table.add([
                .init(row.title), .init(row.unit.text(value)), .init(row.unit.text(range.lowerBound)),
                .init(row.unit.text(range.upperBound)), .init("\(figures.runs(row.kind))"),
                .init(share(of: value, row.ceiling)),
            ])
        }
        table.print()
    }

    private func share(of value: Double, _ ceiling: BenchFigures.Kind?) -> String {
        guard let ceiling = ceiling.flatMap({ figures.value($0) }) else { return "" }
        return String(format: "%.2f", value / ceiling)
    }

    // MARK: For programs

    /// The report as one object.
    var json: JSONOutput {
        [
            "jobs": .count(jobs), "runs": .count(runs),
            "ceiling": [
                "push_single": rate(.ceilingPushSingle), "push_batch": rate(.ceilingPushBatch),
                "claim_finish_batch": rate(.ceilingClaimFinish),
            ],
            "ceiling_one_call": [
                "push_batch": rate(.ceilingPushBatchOneCall), "claim_finish_batch": rate(.ceilingClaimFinishOneCall),
            ],
            "push_awaited": rate(.pushAwaited), "push_concurrent": rate(.pushConcurrent), "push_bulk": rate(.pushBulk),
            "drain": rate(.drain), "drain_async": rate(.drainAsynchronous), "drain_run": rate(.drainChildren),
            "drain_serve": rate(.drainServed),
            "mixed": rate(.mixed),
            "groups": [
                "few": rate(.drainFewGroups), "many": rate(.drainManyGroups), "one_at_once": rate(.drainLimitedGroups),
                "beside_one_resting": rate(.drainBesideOneRestingGroup),
                "beside_resting": rate(.drainBesideRestingGroups), "beside_full": rate(.drainBesideFullGroups),
                "beside_another_queue": rate(.drainBesideAnotherQueue),
                "server_us_per_job": exact(.serverMicrosecondsPerGroupedJob),
                "wait_p99_ms": exact(.waitWithoutFlood99), "wait_beside_flood_p99_ms": exact(.waitBesideFlood99),
                "wait_beside_many_users_p99_ms": exact(.waitBesideManyUsers99),
            ],
            "workflows": [
                "usual": rate(.workflowUsual), "join": rate(.workflowJoin), "fork": rate(.workflowFork),
                "death": rate(.workflowDeath),
                "longest_call_ms": [
                    "usual": exact(.workflowUsualCall), "join": exact(.workflowJoinCall),
                    "fork": exact(.workflowForkCall), "death": exact(.workflowDeathCall),
                ],
            ],
            "unique": ["new": rate(.uniqueNew), "drop": rate(.uniqueDrop), "replace": rate(.uniqueReplace)],
            "pickup_ms": percentiles([.pickup50, .pickup95, .pickup99, .pickupMost]),
            "pickup_200_idle_ms": percentiles([
                .pickup200Idle50, .pickup200Idle95, .pickup200Idle99, .pickup200IdleMost,
            ]),
            "commands_per_job": exact(.commandsPerJob), "server_us_per_job": exact(.serverMicrosecondsPerJob),
            "worker_us_per_job": exact(.workerMicrosecondsPerJob),
            "network_bytes_per_job": rate(.networkBytesPerJob), "bytes_per_waiting_job": rate(.bytesPerWaitingJob),
            "worker_rss_bytes": rate(.workerBytes), "idle_commands_per_s": exact(.idleCommandsPerSecond),
            "idle_processor_share": exact(.idleProcessorShare),
            "long_drain": ["drain": rate(.longDrain), "worker_rss_bytes": rate(.longDrainWorkerBytes)],
            "spread": spread, "settings": facts.json,
        ]
    }

    /// The smallest and the largest value of all runs, by the name of the figure.
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
        figures.value(kind).map { .count(Int($0.rounded())) } ?? .null
    }

    private func exact(_ kind: BenchFigures.Kind) -> JSONOutput { figures.value(kind).map(exact) ?? .null }

    private func exact(_ value: Double) -> JSONOutput { .written(Array(String(format: "%.4g", value).utf8)) }
}
