extension MemoryTransitions {
    /// Returns the complete state of the queue as numbers, for comparison with another implementation. Ids, sessions,
    /// operations and names are represented by the digits in their texts.
    ///
    /// - Parameters:
    ///   - ids: every id that may be in the queue, in the order of their numbers; likewise the sessions.
    ///   - names: the number of names; likewise the operations.
    package func words(ids: [String], sessions: [String], names: Int, operations: Int) -> [Int64] {
        var words: [Int64] = []
        words.reserveCapacity(400)
        for id in ids { write(job: id, to: &words) }
        writeLines(operations, to: &words)
        for session in sessions { write(session: session, to: &words) }
        writeNames(names, to: &words)
        writeRest(to: &words)
        return words
    }

    private func write(job id: String, to words: inout [Int64]) {
        if let job = queue.jobs[id] { write(job, to: &words) }
        if let ending = queue.ended.ending(of: id, now: queue.now) { words += [11, number(id), code(ending)] }
        if let record = queue.history[id] {
            words += [12, number(id), record.at, Int64(KeptErrors.size(of: record.events)), Int64(record.result.count)]
        }
    }

    private func write(_ job: MemoryJob, to words: inout [Int64]) {
        words += [10, number(job.id), job.readySince, Int64(job.envelope.count + 13), Int64(job.failures)]
        words += [Int64(job.crashes), Int64(job.crashesAlone), job.hasComeBack ? 1 : 0, code(job.stop)]
        words += [
            job.successor.map { number($0.id) } ?? -1, job.successor?.due ?? 0,
            Int64(KeptErrors.size(of: job.errors.events)),
        ]
        words.append(job.place == .dead ? -1 : job.heldName.map { number($0.bytes) } ?? -1)
        switch job.place {
        case .line(.ready(let priority)): words += [1, Int64(priority)]
        case .line(.suspects): words += [2, 0]
        case .line(.parked(let operation, let priority)): words += [3, number(operation) * 10 + Int64(priority)]
        case .scheduled: words += [4, queue.scheduled[job.id] ?? -1]
        case .retrying: words += [5, queue.retrying[job.id] ?? -1]
        case .claimed(let session): words += [6, number(session)]
        case .deferred(let holder): words += [7, number(holder)]
        case .dead: words += [8, queue.dead[job.id] ?? -1]
        }
        if case .claimed(let session) = job.place, job.heldName != nil {
            words.append(number(session))
        } else {
            words.append(-1)
        }
    }

    private func writeLines(_ operations: Int, to words: inout [Int64]) {
        for priority in 0...9 { write(.ready(priority), [1, Int64(priority)], to: &words) }
        write(.suspects, [2, 0], to: &words)
        for operation in 0..<operations {
            for priority in 0...9 {
                let line = LineName.parked(operation: "op\(operation)", priority: priority)
                write(line, [3, Int64(operation * 10 + priority)], to: &words)
            }
        }
    }

    private func write(_ line: LineName, _ heading: [Int64], to words: inout [Int64]) {
        guard let members = queue.lines[line] else { return }
        words.append(20)
        words += heading
        words.append(Int64(members.count))
        for id in members.ids { words.append(number(id)) }
    }

    private func write(session id: String, to words: inout [Int64]) {
        guard let session = queue.sessions[id] else { return }
        words += [30, number(id), Int64(session.pid), session.lease, session.leaseEnds, session.lastBeat]
        words += [Int64(session.begun), Int64(session.lastCall?.number ?? -1), Int64(session.lastCall?.token ?? 0)]
        let verdicts = session.lastCall?.accepted ?? []
        words.append(Int64(verdicts.count))
        for verdict in verdicts { words.append(verdict ? 1 : 0) }
        words += [
            session.lastCall?.isPreanswered == true ? 1 : 0, session.openCall ?? -1, Int64(session.handedToken ?? 0),
        ]
        words.append(Int64(session.claims.count))
        for (id, claim) in session.claimsInOrder {
            words += [number(id), Int64(claim.token), claim.hardDeadline, claim.made]
        }
    }

    private func writeNames(_ count: Int, to words: inout [Int64]) {
        var holders = [Int64](repeating: -1, count: count)
        for (name, id) in queue.holders { holders[Int(number(name.bytes))] = number(id) }
        words.append(40)
        words += holders
    }

    private func writeRest(to words: inout [Int64]) {
        let pulse = queue.pulse
        words += [50, pulse.lastBeat ?? -1, pulse.longestLease, pulse.graceEnds, pulse.gapNoticed ?? -1, pulse.leap]
        words += [Int64(queue.lastToken), Int64(queue.turn), queue.solo.map(number) ?? -1]
        let settings = queue.settings
        words += [60, settings.isPaused ? 1 : 0, settings.publishesStarts ? 1 : 0, Int64(settings.maximumLength)]
        words += [settings.rememberIDs, settings.keepHistory, 70]
        for name in QueueStatus.Totals.names { words.append(Int64(queue.totals[name] ?? 0)) }
    }

    private func code(_ stop: MemoryJob.StopReason?) -> Int64 {
        switch stop {
        case nil: 0
        case .cancel: 1
        case .replace: 2
        }
    }

    private func code(_ ending: MemoryEnding) -> Int64 {
        switch ending {
        case .finished: 0
        case .cancelled: 1
        case .replaced: 2
        case .deleted: 3
        }
    }

    /// Returns the digits of a text as a number.
    private func number(_ text: String) -> Int64 { number(text.utf8) }

    private func number(_ bytes: some Sequence<UInt8>) -> Int64 {
        bytes.reduce(0) { number, byte in (48...57).contains(byte) ? (number &* 10) &+ Int64(byte &- 48) : number }
    }
}
