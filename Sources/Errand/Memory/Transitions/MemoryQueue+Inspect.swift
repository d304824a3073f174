/// Inspect: returns jobs by their ids or by a page of a state. Changes nothing.
extension MemoryQueue {
    package func record(of id: String) -> JobRecord? {
        guard let job = jobs[id] else { return endedRecord(of: id) }
        var record = JobRecord(
            id: id,
            state: job.place.state,
            body: job.stored,
            failures: job.failures,
            crashes: job.crashes,
            at: time(of: job),
            events: job.errors.events,
            progress: job.progress,
            workflows: workflows.places[id, default: []].map { WorkflowID(queue: $0.home ?? name, token: $0.workflow) }
        )
        if case .claimed(let session) = job.place {
            record.session = session
            record.claimedAt = sessions[session]?.claims[id]?.made
        }
        return record
    }

    private func time(of job: MemoryJob) -> Int64? {
        switch job.place {
        case .scheduled: scheduled[job.id]
        case .retrying: retrying[job.id]
        case .dead: dead[job.id]
        case .listed, .claimed, .deferred, .blocked: nil
        }
    }

    private func endedRecord(of id: String) -> JobRecord? {
        let kept = history[id]
        guard let ending = ended.ending(of: id, now: now) ?? kept?.ending else { return nil }
        return JobRecord(
            id: id,
            state: ending.state,
            at: kept?.at,
            events: kept?.events ?? [],
            result: kept?.result ?? []
        )
    }

    /// Returns a page of the jobs in a state. For ended jobs it is a page of the history without the other states.
    func page(of state: JobState, from cursor: Int, count: Int) -> JobPage {
        let ids = ids(in: state)
        let start = min(max(cursor, 0), ids.count)
        let end = min(start + min(max(count, 0), MemoryRules.jobsACall), ids.count)
        var (page, bytes) = (JobPage(next: end < ids.count ? end : nil), 0)
        for index in start..<end {
            guard let record = record(of: ids[index]), record.state == state else { continue }
            bytes += record.body.count + KeptErrors.size(of: record.events) + record.result.count
            if !page.jobs.isEmpty, bytes > MemoryRules.inspectedBytes {
                page.next = index
                return page
            }
            page.jobs.append(record)
            page.positions.append(index)
        }
        return page
    }

    private func ids(in state: JobState) -> [String] {
        switch state {
        case .ready: lineOrder.flatMap { readyLists[$0]?.ids ?? [] }
        case .scheduled: scheduled.sorted
        case .retrying: retrying.sorted
        case .dead: dead.sorted.reversed()
        case .running: sessions.values.sorted { $0.id < $1.id }.flatMap { $0.claimsInOrder.map(\.id) }
        case .deferred: successors
        case .blocked: blockedJobs
        case .finished, .cancelled, .replaced, .expired, .skipped, .deleted: history.newestFirst
        }
    }
}

extension MemoryJob.Place {
    var state: JobState {
        switch self {
        case .listed: .ready
        case .scheduled: .scheduled
        case .retrying: .retrying
        case .claimed: .running
        case .deferred: .deferred
        case .blocked: .blocked
        case .dead: .dead
        }
    }
}
