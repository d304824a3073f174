import Errand

/// What a simulation remembers of groups, to judge every transition by the promises of flow control.
struct FlowRecord: Sendable {
    private struct PastStart: Sendable {
        let start: MemoryQueue.Start
        let time: Time
    }

    /// The starts that count for the rates of groups, the oldest first.
    private var starts: [String: [PastStart]] = [:]
    /// Until when handlers let groups rest.
    private var rests: [String: Time] = [:]
    /// The job of each ordered group that has started and not ended.
    private var unended: [String: String] = [:]
    /// The order in which jobs have joined ordered groups. Jobs without a number are not compared.
    private var arrivals: [String: Int] = [:]
    private var arrivalCount = 0
    private var latest: Time = 0

    /// A transition that is judged.
    struct Step {
        let command: Command
        let answer: Answer
        let before: MemoryQueue
        let after: MemoryQueue
        let now: Time
    }

    /// Judges a transition by G1 to G4, and remembers it.
    mutating func brokenRule(in step: Step) -> String? {
        noteClock(step.now)
        noteRules(in: step)
        noteEndsOfClaims(in: step)
        var broken: String?
        for start in step.after.starts(since: step.before) {
            broken = broken ?? brokenStart(start, in: step)
            note(start, in: step)
        }
        noteArrivals(in: step)
        unended = unended.filter { group, id in
            guard let job = step.after.jobs[id] else { return false }
            return !(job.isDead && step.after.groups.rule(of: GroupName(valid: group)).order == .skipDead)
        }
        return broken
    }

    // MARK: Starts

    private func brokenStart(_ start: MemoryQueue.Start, in step: Step) -> String? {
        for part in step.after.parts(of: start.id) {
            let rule = step.after.groups.rule(of: GroupName(valid: part))
            if let broken = step.after.brokenLimit(of: part, rule) ?? brokenRate(of: part, rule, step.now) {
                return broken
            }
            if let end = rests[part], end > step.now {
                return "G4: \(start.id) started although group \"\(part)\" rests until \(end)"
            }
        }
        return brokenOrder(of: start.id, in: step)
    }

    private func brokenRate(of part: String, _ rule: FlowRule, _ now: Time) -> String? {
        guard let rate = rule.rate, let earlier = starts[part] else { return nil }
        return MemoryQueue.brokenRate(of: part, rate, after: earlier.map(\.time), at: now)
    }

    private func brokenOrder(of id: String, in step: Step) -> String? {
        guard let group = step.after.jobs[id]?.header.group, let order = step.after.groups.rule(of: group).order else {
            return nil
        }
        return step.after.brokenOrder(of: id, order, since: step.before) { other in
            if unended[group.text] == other.id { return true }
            guard let own = arrivals[id], let number = arrivals[other.id], case .listed(.group) = other.place else {
                return false
            }
            return number < own
        }
    }

    private mutating func note(_ start: MemoryQueue.Start, in step: Step) {
        for part in step.after.parts(of: start.id) where rule(of: part, in: step).rate != nil {
            starts[part, default: []].append(PastStart(start: start, time: step.now))
        }
        arrivals[start.id] = nil
        guard let group = step.after.jobs[start.id]?.header.group?.text else { return }
        if rule(of: group, in: step).order != nil { unended[group] = start.id }
    }

    private func rule(of part: String, in step: Step) -> FlowRule { step.after.groups.rule(of: GroupName(valid: part)) }

    // MARK: Changes

    /// Earlier starts cannot be compared with later ones after the clock was set back.
    private mutating func noteClock(_ now: Time) {
        if now < latest { starts = [:] }
        latest = now
    }

    /// A changed rule counts from the next claim on: earlier starts do not count for a new rate, and jobs that are there
    /// have no certain order when their group becomes ordered.
    private mutating func noteRules(in step: Step) {
        guard case .flow = step.command else { return }
        let groups = (step.before.groups, step.after.groups)
        starts = starts.filter { part, _ in
            let name = GroupName(valid: part)
            return groups.0.rule(of: name).rate == groups.1.rule(of: name).rate
        }
        for group in Universe.groups.map({ GroupName(valid: $0) }) {
            guard (groups.0.rule(of: group).order == nil) != (groups.1.rule(of: group).order == nil) else { continue }
            unended[group.text] = nil
            arrivals = arrivals.filter { id, _ in step.after.jobs[id]?.header.group != group }
        }
    }

    /// A claim that was released, or whose job was unroutable, does not count as a start. A run may let its group rest.
    private mutating func noteEndsOfClaims(in step: Step) {
        switch step.command {
        case .exchange(let call):
            for report in call.reports {
                guard step.before.sessions[call.session.id]?.claims[report.id]?.token == report.token else { continue }
                if report.verb == .released || report.verb == .unroutable { forget(report.id, report.token) }
                if report.verb == .groupRests { noteRest(report, in: step) }
            }
        case .reconcile(let session, _, _), .release(let session):
            for (id, claim) in step.before.sessions[session.id]?.claims ?? [:] {
                if step.after.sessions[session.id]?.claims[id]?.token != claim.token { forget(id, claim.token) }
            }
        default: break
        }
    }

    private mutating func forget(_ id: String, _ token: Token) {
        for part in starts.keys { starts[part]?.removeAll { $0.start.id == id && $0.start.token == token } }
    }

    private mutating func noteRest(_ report: OutcomeReport, in step: Step) {
        // A job that had to stop, or has a successor, has ended instead.
        guard let job = step.after.jobs[report.id], case .listed = job.place, let group = job.header.group else {
            return
        }
        rests[group.text] = max(rests[group.text] ?? 0, step.now + Time(report.retryDelay ?? 0))
    }

    // MARK: Arrivals

    /// Numbers jobs that have joined ordered groups in this transition; several have the same number. A job that has
    /// started returns to the head of its group, and so may a successor: they have none.
    private mutating func noteArrivals(in step: Step) {
        var hasNew = false
        for job in step.after.jobs.values {
            guard case .listed(.group(let group, _)) = job.place, step.before.jobs[job.id]?.place != job.place,
                rule(of: group.text, in: step).order != nil, unended[group.text] != job.id
            else { continue }
            switch step.before.jobs[job.id]?.place {
            case nil:
                if let position = positionOfReplaced(by: job, in: step) {
                    arrivals[job.id] = position.number
                    continue
                }
            case .scheduled, .dead, .blocked: break
            default: continue
            }
            hasNew = true
            arrivals[job.id] = arrivalCount
        }
        if hasNew { arrivalCount += 1 }
    }

    /// The number of the job whose position in the same list a pushed job has taken, if there is such a job.
    private func positionOfReplaced(by job: MemoryJob, in step: Step) -> (number: Int?, id: String)? {
        guard case .receipts(let receipts) = step.answer,
            let receipt = receipts.first(where: { $0.id == job.id }), receipt.outcome == .replaced,
            let holder = receipt.holder, step.before.jobs[holder]?.place == job.place
        else { return nil }
        return (arrivals[holder], holder)
    }
}
