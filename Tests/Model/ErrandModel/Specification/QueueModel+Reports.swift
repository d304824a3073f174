/// What becomes of jobs when their worker says how the runs ended.
extension QueueModel {
    /// A report counts when its session still holds the claim of that token. What is given back goes back last, from
    /// the last to the first, so that the first is at the head again.
    mutating func takeReports(of call: Call) -> [Bool] {
        var returned: [Job] = []
        let accepted = call.reports.map { report in
            guard sessions[call.session]?.claim(of: report.id)?.token == report.token, let job = jobs[report.id] else {
                return false
            }
            if report.verb == .released { returned.append(job) } else { take(report, of: job, call.session) }
            sessions[call.session]?.claims.removeAll { $0.id == report.id }
            return true
        }
        for job in returned.reversed() where returnClaim(job, call.session, as: .released) { giveBack(job.id) }
        return accepted
    }

    private mutating func take(_ report: Report, of job: Job, _ session: SessionID) {
        let reason: Reason? = report.hasError ? .said : nil
        let run = Run(attempt: report.attempt, worker: session, duration: report.duration, reason: reason)
        var plain = run
        plain.reason = nil
        switch report.verb {
        case .finished: finish(job, plain, hasResult: report.hasResult)
        case .failed: fail(job, .failed, run, retryDelay: report.retryDelay)
        case .timedOut: fail(job, .timedOut, run, retryDelay: report.retryDelay)
        case .cancelled: stopped(job, run)
        case .parked: park(job, Run(attempt: report.attempt, worker: session))
        case .snoozed: snooze(job, plain, delay: report.retryDelay ?? 0)
        case .unreadable: die(job.id, run)
        case .released: break
        }
    }

    private mutating func finish(_ job: Job, _ run: Run, hasResult: Bool) {
        let event = publish(.finished, job.pushed, run)
        count(.finished)
        end(job.id, as: .finished, record: hasResult ? event : nil, hasResult: hasResult)
    }

    private mutating func fail(_ job: Job, _ kind: EventKind, _ run: Run, retryDelay: Time?) {
        if job.stop == .cancel { return stopped(job, run) }
        let event = publish(kind, job.pushed, run)
        count(kind == .failed ? .failed : .timedOut)
        if giveWayToSuccessor(job, run, record: event) { return }
        jobs[job.id]?.failures = run.attempt
        guard let retryDelay else { return die(job.id, run) }
        jobs[job.id]?.keepError(event)
        count(.retried)
        retry(job, run, after: retryDelay)
    }

    /// It was told to stop, and stopped: cancelled, and replaced where a push asked for the stop.
    private mutating func stopped(_ job: Job, _ run: Run, wasGivenBack: Bool = false) {
        let event = publish(.cancelled, job.pushed, run)
        count(.cancelled)
        if job.stop == .replace, giveWayToSuccessor(job, run, record: event) { return }
        end(job.id, as: .cancelled, record: event, wasGivenBack: wasGivenBack)
    }

    private mutating func snooze(_ job: Job, _ run: Run, delay: Time) {
        if job.stop != nil { return stopped(job, run) }
        if giveWayToSuccessor(job, run) { return }
        retry(job, run, after: delay)
    }

    private mutating func park(_ job: Job, _ run: Run) {
        if giveWayToSuccessor(job, run) { return }
        if job.stop != nil { return stopped(job, run) }
        leavePlace(job.id)
        enter(.parked(job.pushed.operation, priority: job.pushed.priority), job.id, atHead: false)
    }

    mutating func retry(_ job: Job, _ run: Run, after delay: Time) {
        leavePlace(job.id)
        jobs[job.id]?.place = .retrying(now + delay)
        publish(.retrying, job.pushed, Run(attempt: run.attempt, worker: run.worker, duration: run.duration))
    }

    /// A claim that ends without an outcome of its own. Answers whether the job goes back in line: it does not when it
    /// was to stop, or a successor waits.
    mutating func returnClaim(_ job: Job, _ session: SessionID, as kind: EventKind) -> Bool {
        let run = Run(attempt: job.failures + 1, worker: session)
        if job.stop == .cancel || (job.stop != nil && job.successor == nil) {
            stopped(job, run, wasGivenBack: true)
            return false
        }
        let event = publish(kind, job.pushed, run)
        count(kind == .released ? .released : .recovered)
        if giveWayToSuccessor(job, run, record: event, wasGivenBack: true) { return false }
        leavePlace(job.id)
        return true
    }
}
