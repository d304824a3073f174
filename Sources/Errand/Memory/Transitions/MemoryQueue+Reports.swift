import ErrandText

/// Reports: what happens to a job according to the outcome of its run.
extension MemoryQueue {
    /// Processes the reports in order and returns which were accepted: those whose claim the session still has.
    mutating func apply(_ reports: [OutcomeReport], from session: String) -> [Bool] {
        var accepted: [Bool] = []
        var released: [MemoryJob] = []
        var ended: [MemoryEndedClaim] = []
        for report in reports {
            guard let job = jobs[report.id], sessions[session]?.claims[report.id]?.token == report.token else {
                accepted.append(false)
                continue
            }
            accepted.append(true)
            let claim = sessions[session]?.claims[report.id]
            let hasRun = report.verb != .released && report.verb != .unroutable
            freeSlots(of: job, released: hasRun ? nil : claim)
            if let claim { ended.append(MemoryEndedClaim(claim, job.header.group, report.milliseconds, hasRun)) }
            if report.verb == .released { released.append(job) } else { apply(report, of: job, from: session) }
            sessions[session]?.claims[report.id] = nil
        }
        // From the last to the first, so that the first is at the head again.
        for job in released.reversed() where endClaim(job, of: session, as: .released) != nil { requeue(job.id) }
        settle(ended)
        return accepted
    }

    private mutating func apply(_ report: OutcomeReport, of job: MemoryJob, from session: String) {
        let run = MemoryEventDetails(
            attempt: min(max(report.attempt, 0), 1_000_000),
            worker: session,
            milliseconds: report.milliseconds,
            error: report.error?.clipped(toUTF8: MemoryRules.errorBytes)
        )
        switch report.verb {
        case .finished: finish(job, run, result: report.result)
        case .failed: fail(job, .failed, run, retryDelay: report.retryDelay)
        case .timedOut: fail(job, .timedOut, run, retryDelay: report.retryDelay)
        case .cancelled: stopped(job, run)
        case .unroutable: makeUnroutable(job, run)
        case .snoozed: snooze(job, run, delay: report.retryDelay ?? 0)
        case .groupRests: snooze(job, run, delay: report.retryDelay ?? 0, restsGroup: true)
        case .unreadable: die(job.id, run)
        case .released: break
        }
    }

    private mutating func finish(_ job: MemoryJob, _ run: MemoryEventDetails, result: [UInt8]) {
        var success = run
        success.error = nil
        let event = publish(.finished, of: job, success)
        count(.finished)
        let kept = Array(result.prefix(MemoryRules.resultBytes))
        end(job.id, as: .finished, event: kept.isEmpty ? nil : event, result: kept)
    }

    private mutating func fail(_ job: MemoryJob, _ kind: MemoryEventKind, _ run: MemoryEventDetails, retryDelay: Int?) {
        if job.stop == .cancel { return stopped(job, run) }
        let event = publish(kind, of: job, run)
        count(kind == .failed ? .failed : .timedOut)
        if endReplacedBySuccessor(job, attempt: run.attempt, worker: run.worker ?? "", event: event) { return }
        jobs[job.id]?.failures = run.attempt
        guard let retryDelay else { return die(job.id, run) }
        jobs[job.id]?.errors.keep(event.line)
        count(.retried)
        retry(job, run, after: Int64(retryDelay))
    }

    /// Ends a run that was asked to stop and has stopped: the job is cancelled, or replaced if a push has asked it to
    /// stop.
    private mutating func stopped(_ job: MemoryJob, _ run: MemoryEventDetails, isReturned: Bool = false) {
        let event = publish(.cancelled, of: job, run)
        count(.cancelled)
        if job.stop == .replace,
            endReplacedBySuccessor(job, attempt: run.attempt, worker: run.worker ?? "", event: event)
        {
            return
        }
        end(job.id, as: .cancelled, event: event, isReturned: isReturned)
    }

    /// The longest rest of a group in milliseconds.
    private static let longestRest = 2_592_000_000

    /// A job that has to stop is not run again.
    private mutating func snooze(
        _ job: MemoryJob,
        _ run: MemoryEventDetails,
        delay: Int,
        restsGroup: Bool = false
    ) {
        var asked = run
        asked.error = nil
        if job.stop != nil { return stopped(job, asked) }
        if endReplacedBySuccessor(job, attempt: run.attempt, worker: run.worker ?? "") { return }
        guard restsGroup, let group = job.header.group else { return retry(job, asked, after: Int64(delay)) }
        // The whole group comes back later, and this job is the first one to run then.
        groups.rates.rest(group.text, until: MemoryRules.later(now, by: Int64(min(max(delay, 0), Self.longestRest))))
        publish(.retrying, of: job, asked)
        removeFromPlace(job.id)
        requeue(job.id)
    }

    private mutating func makeUnroutable(_ job: MemoryJob, _ run: MemoryEventDetails) {
        if endReplacedBySuccessor(job, attempt: run.attempt, worker: run.worker ?? "") { return }
        if job.stop != nil { return stopped(job, MemoryEventDetails(attempt: run.attempt, worker: run.worker)) }
        guard let operation = job.header.operation else {
            let error = "its operation cannot be read; delete it and push it again"
            return die(job.id, MemoryEventDetails(attempt: run.attempt, worker: run.worker, error: error))
        }
        removeFromPlace(job.id)
        makeUnroutable(job.id, operation: operation)
    }

    mutating func retry(_ job: MemoryJob, _ run: MemoryEventDetails, after milliseconds: Int64) {
        removeFromPlace(job.id)
        retryLater(job.id, after: milliseconds)
        var again = run
        again.error = nil
        publish(.retrying, of: job, again)
    }
}

/// How a claim ends without an outcome of its own.
extension MemoryQueue {
    /// Publishes that the claim was released or recovered.
    ///
    /// - Returns: The event if the job continues; `nil` if it has ended, because it had to stop or there is a successor.
    mutating func endClaim(_ job: MemoryJob, of session: String, as kind: MemoryEventKind) -> MemoryEvent? {
        let run = MemoryEventDetails(attempt: job.failures + 1, worker: session)
        if job.stop == .cancel || (job.stop != nil && job.successor == nil) {
            stopped(job, run, isReturned: true)
            return nil
        }
        let event = publish(kind, of: job, run)
        count(kind == .released ? .released : .recovered)
        if endReplacedBySuccessor(job, attempt: run.attempt, worker: session, event: event, isReturned: true) {
            return nil
        }
        removeFromPlace(job.id)
        return event
    }
}
