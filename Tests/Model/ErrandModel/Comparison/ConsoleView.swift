import Errand

/// What an operator sees of a queue: its counts, its sessions, and what is known of each job.
struct ConsoleView: Equatable {
    var status: QueueStatus
    var sessions: [SessionStatus]
    var records: [JobRecord?]

    init(_ status: QueueStatus, _ sessions: [SessionStatus], _ records: [JobRecord?]) {
        self.status = status
        // Only the totals that the contract names.
        let names = QueueStatus.Totals.names
        self.status.totals = .init(counts: Dictionary(uniqueKeysWithValues: names.map { ($0, status.totals[$0]) }))
        self.sessions = sessions.sorted { $0.id < $1.id }
        self.records = records
    }

    /// What is wrong with a broker's view, or `nil`. Behind many tombstones the age of the oldest job is not looked for, and
    /// nobody knows which of the lines of unknown operations they are in.
    func difference(from model: ConsoleView, tombstones: Bool = false) -> String? {
        var (seen, expected) = (self, model)
        if tombstones {
            seen.status.oldestReadyMilliseconds = expected.status.oldestReadyMilliseconds
            seen.status.unknownOperations = expected.status.unknownOperations
        }
        seen.records = []
        expected.records = []
        if seen != expected { return "shows \(seen)\n model \(expected)" }
        for (seen, expected) in zip(records, model.records) where seen != expected {
            return "shows \(Self.words(seen))\n model \(Self.words(expected))"
        }
        return records.count == model.records.count ? nil : "shows \(records.count) records"
    }

    private static func words(_ record: JobRecord?) -> String {
        guard let record else { return "nothing" }
        let events = record.events.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
        let times = "\(record.failures) \(record.crashes) \(record.at.map(String.init) ?? "-")"
        return
            "\(record.id) \(record.state) \(times) \(record.session ?? "-") \(record.body.count) \(record.result.count) \(events)"
    }
}

extension QueueModel {
    /// What is to be seen at a time, in which nothing has happened since the last transition.
    func view(_ universe: Universe, at time: Time, _ envelopes: inout Envelopes) throws -> ConsoleView {
        var records: [JobRecord?] = []
        for id in 0..<Universe.idCount { records.append(try record(of: id, universe, at: time, &envelopes)) }
        return ConsoleView(status(universe, at: time), sessionStatuses(universe, at: time), records)
    }

    private func status(_ universe: Universe, at time: Time) -> QueueStatus {
        let places = jobs.values.map(\.place)
        let ages = lines.values.compactMap { $0.first.flatMap { jobs[$0] } }.map { time - $0.readySince }
        var unknown: [String: Int] = [:]
        for line in parkedLines {
            unknown[universe.operations[line.operation], default: 0] += lines[line]?.count ?? 0
        }
        var counts: [String: Int] = [:]
        for (name, total) in zip(QueueStatus.Totals.names, Total.allCases) { counts[name] = totals[total] }
        return QueueStatus(
            name: universe.queue,
            isPaused: settings.isPaused,
            ready: lines.values.reduce(0) { $0 + $1.count },
            scheduled: dueFirst(.scheduled).count,
            running: sessions.values.reduce(0) { $0 + $1.claims.count },
            retrying: dueFirst(.retrying).count,
            dead: places.count { if case .dead = $0 { true } else { false } },
            deferred: places.count { if case .behind = $0 { true } else { false } },
            oldestReadyMilliseconds: Int(max(ages.max() ?? 0, 0)),
            unknownOperations: unknown,
            totals: .init(counts: counts)
        )
    }

    private func sessionStatuses(_ universe: Universe, at time: Time) -> [SessionStatus] {
        sessions.map { id, session in
            let whole = universe.session(session.registration)
            return SessionStatus(
                id: whole.id,
                host: whole.host,
                pid: Int(whole.pid),
                running: session.claims.count,
                concurrency: whole.concurrency,
                lastBeatMilliseconds: Int(time - session.lastBeat),
                operations: whole.operations.keys.sorted()
            )
        }
    }

    private func record(
        of id: JobID,
        _ universe: Universe,
        at time: Time,
        _ envelopes: inout Envelopes
    ) throws -> JobRecord? {
        guard let job = jobs[id] else { return endedRecord(of: id, universe, at: time) }
        var record = JobRecord(
            id: universe.ids[id],
            state: .ready,
            body: Array(String(job.readySince).utf8) + (try envelopes.envelope(job.pushed, universe).bytes),
            failures: job.failures,
            crashes: job.crashes,
            events: job.errors.map { universe.lines(of: [$0]) }
        )
        switch job.place {
        case .line: break
        case .scheduled(let due): (record.state, record.at) = (.scheduled, due)
        case .retrying(let due): (record.state, record.at) = (.retrying, due)
        case .claimed(let session): (record.state, record.session) = (.running, universe.sessions[session])
        case .behind: record.state = .deferred
        case .dead(let at): (record.state, record.at) = (.dead, at)
        }
        return record
    }

    private func endedRecord(of id: JobID, _ universe: Universe, at time: Time) -> JobRecord? {
        let kept = history.first { $0.id == id }
        guard let ending = ended.ending(of: id, at: time) ?? kept?.ending else { return nil }
        let states: [Ending: JobState] = [
            .finished: .finished, .cancelled: .cancelled, .replaced: .replaced, .deleted: .deleted,
        ]
        return JobRecord(
            id: universe.ids[id],
            state: states[ending] ?? .finished,
            at: kept?.event.at,
            events: kept.map { [$0.event] + $0.errors }?.map { universe.lines(of: [$0]) } ?? [],
            result: kept?.hasResult == true ? Universe.result : []
        )
    }
}
