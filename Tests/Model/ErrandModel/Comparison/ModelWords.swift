extension QueueModel {
    /// The whole state as numbers, in the order in which the brokers tell theirs.
    package func words(_ universe: Universe, bodyLength: (Push) -> Int64) -> [Int64] {
        var words: [Int64] = []
        words.reserveCapacity(400)
        for id in 0..<Universe.idCount { write(job: id, universe, bodyLength, to: &words) }
        for priority in 0...9 { write(.ready(priority: priority), [20, 1, Int64(priority)], to: &words) }
        write(.suspects, [20, 2, 0], to: &words)
        for operation in 0..<Universe.operationCount {
            for priority in 0...9 {
                let line = Line.parked(operation, priority: priority)
                write(line, [20, 3, Int64(operation * 10 + priority)], to: &words)
            }
        }
        for session in universe.sessions.indices { write(session: session, to: &words) }
        words.append(40)
        for name in 0..<Universe.nameCount { words.append(number(holders[name])) }
        writeRest(to: &words)
        return words
    }

    private func number(_ id: Int?) -> Int64 { id.map { Int64($0) } ?? -1 }

    private func write(
        job id: JobID,
        _ universe: Universe,
        _ bodyLength: (Push) -> Int64,
        to words: inout [Int64]
    ) {
        if let job = jobs[id] {
            words += [10, Int64(id), job.readySince, bodyLength(job.pushed), Int64(job.failures)]
            words += [Int64(job.crashes), Int64(job.crashesAlone), job.hasComeBack ? 1 : 0]
            words.append(Int64(job.stop.map { $0.rawValue + 1 } ?? 0))
            words += [number(job.successor), job.successor.flatMap { jobs[$0]?.pushed.due } ?? 0]
            words += [universe.length(of: job.errors), job.isDead ? -1 : number(job.name)]
            write(job.place, to: &words)
            words.append(job.name == nil ? -1 : number(job.holder))
        }
        if let ending = ended.ending(of: id, at: now) { words += [11, Int64(id), Int64(ending.rawValue)] }
        if let record = history.first(where: { $0.id == id }) {
            let result = record.hasResult ? Universe.result.count : 0
            words += [
                12, Int64(id), record.event.at, universe.length(of: [record.event] + record.errors), Int64(result),
            ]
        }
    }

    private func write(_ place: Place, to words: inout [Int64]) {
        switch place {
        case .line(.ready(let priority)): words += [1, Int64(priority)]
        case .line(.suspects): words += [2, 0]
        case .line(.parked(let operation, let priority)): words += [3, Int64(operation * 10 + priority)]
        case .scheduled(let due): words += [4, due]
        case .retrying(let due): words += [5, due]
        case .claimed(let session): words += [6, Int64(session)]
        case .behind(let holder): words += [7, Int64(holder)]
        case .dead(let at): words += [8, at]
        }
    }

    private func write(_ line: Line, _ heading: [Int64], to words: inout [Int64]) {
        guard let ids = lines[line] else { return }
        words += heading
        words.append(Int64(ids.count))
        for id in ids { words.append(Int64(id)) }
    }

    private func write(session id: SessionID, to words: inout [Int64]) {
        guard let session = sessions[id] else { return }
        words += [30, Int64(id), Int64(session.registration.pid), session.registration.lease, session.leaseEnds]
        words += [session.lastBeat, session.begun, number(session.lastCall?.number), session.lastCall?.token ?? 0]
        let verdicts = session.lastCall?.accepted ?? []
        words.append(Int64(verdicts.count))
        for verdict in verdicts { words.append(verdict ? 1 : 0) }
        words += [session.lastCall?.isPreanswered == true ? 1 : 0, session.openCall ?? -1, session.handed ?? 0]
        words.append(Int64(session.claims.count))
        for claim in session.claims { words += [Int64(claim.id), claim.token, claim.deadline, claim.made] }
    }

    private func writeRest(to words: inout [Int64]) {
        words += [
            50, lastBeat ?? -1, longestLease, graceEnds, gapNoticed ?? -1, leap, lastToken, Int64(turn), number(solo),
        ]
        words += [60, settings.isPaused ? 1 : 0, settings.publishesStarts ? 1 : 0, Int64(settings.maximumLength)]
        words += [settings.rememberIDs, settings.keepHistory, 70]
        for total in Total.allCases { words.append(Int64(totals[total] ?? 0)) }
    }
}
