/// Status: returns a queue's counts, totals and sessions. Changes nothing.
extension MemoryQueue {
    package var status: QueueStatus {
        QueueStatus(
            name: name,
            isPaused: settings.isPaused,
            ready: readyLists.values.reduce(0) { $0 + $1.count },
            scheduled: scheduled.count,
            running: sessions.values.reduce(0) { $0 + $1.claims.count },
            executing: sessions.values.reduce(0) { $0 + $1.executing },
            retrying: retrying.count,
            dead: dead.count,
            deferred: successors.count,
            blocked: blockedJobs.count,
            oldestReadyMilliseconds: oldest { if case .unroutable = $0 { false } else { true } },
            oldestUnroutableMilliseconds: oldest { if case .unroutable = $0 { true } else { false } },
            unknownOperations: unroutableCounts,
            totals: QueueStatus.Totals(counts: totals)
        )
    }

    /// The jobs that wait for the end of the running holder of their name.
    var successors: [String] {
        sessions.values.flatMap { $0.claims.keys.compactMap { jobs[$0]?.successor } }.sorted()
    }

    /// The jobs that wait for others of their workflow.
    var blockedJobs: [String] { jobs.values.filter { $0.place == .blocked }.map(\.id).sorted() }

    private func oldest(in isCounted: (ReadyListName) -> Bool) -> Int {
        let heads = readyLists.filter { isCounted($0.key) }.values.compactMap { $0.first.flatMap { jobs[$0] } }
        return Int(clamping: max(heads.map { now - $0.readySince }.max() ?? 0, 0))
    }

    private var unroutableCounts: [String: Int] {
        var counts: [String: Int] = [:]
        for list in unroutableLists {
            guard case .unroutable(let operation, _) = list else { continue }
            counts[operation, default: 0] += readyLists[list]?.count ?? 0
        }
        return counts
    }

    package var sessionStatuses: [SessionStatus] {
        sessions.values.sorted { $0.id < $1.id }.map { session in
            SessionStatus(
                id: session.id,
                host: session.host,
                pid: Int(session.pid),
                running: session.claims.count,
                executing: session.executing,
                concurrency: session.concurrency,
                lastBeatMilliseconds: Int(clamping: now - session.lastBeat),
                operations: session.operations.keys.sorted(),
                retries: session.operations.mapValues(\.retries),
                startedAt: session.startedAt == 0 ? nil : session.startedAt,
                version: session.version.isEmpty ? nil : session.version
            )
        }
    }
}

extension MemorySession {
    /// The claims that it has begun to run: those up to the begun token, whose others wait for a free slot.
    fileprivate var executing: Int { min(claims.values.count { $0.token <= begun }, concurrency) }
}
