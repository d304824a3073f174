import Errand

/// Adds up the fingerprint of a world whose workers are looked at in one order.
struct WorldWriter {
    private(set) var fingerprint = Fingerprint()
    private static let lines = [
        ReadyListName.ready(5), .quarantined, .unroutable(operation: World.operation, priority: 5),
    ]
    private static let groups = [World.group, World.group + "/part"].map { GroupName(valid: $0) }
    private let world: World
    private let order: [Int]
    /// The jobs that matter, by their ids; and the sessions.
    private var jobs: [String]
    private var sessions: [String]
    /// The earliest time at which what is written may be looked at.
    private var now: Time

    init(_ world: World, _ order: [Int]) {
        self.world = world
        self.order = order
        now = world.now
        jobs = world.unanswered.map(\.id)
        sessions = order.compactMap { world.workers[$0].session?.id }
        note(world.broker)
        if let saved = world.saved { note(saved.broker) }
        jobs.sort()
    }

    private mutating func note(_ broker: SharedQueue) {
        for job in broker.queue.jobs.values where !job.isDead || world.faults.revivals > 0 {
            if !jobs.contains(job.id) { jobs.append(job.id) }
        }
        guard broker.queue.sessions.contains(where: { !sessions.contains($0.key) }) else { return }
        let others = broker.queue.sessions.filter { !sessions.contains($0.key) }
        sessions += others.sorted { ($0.value.leaseEnds, $0.key) < ($1.value.leaseEnds, $1.key) }.map(\.key)
    }

    mutating func write() {
        let faults = world.faults
        for count in [faults.lost, faults.crashes, faults.pauses, faults.rollbacks, faults.leaps] { add(count) }
        add(faults.cancels * 4 + faults.revivals)
        add(faults.deletions * 4 + faults.stops)
        add(world.unsent)
        for push in world.unanswered {
            add(push.id, hasName: push.name != nil, push.policy, push.uniqueUntil, due: push.notBefore)
            add(world.broker.queue.ended.ending(of: push.id, now: world.now) == nil ? 0 : 1)
            add(world.saved?.broker.queue.ended.ending(of: push.id, now: world.now) == nil ? 0 : 1)
            add(world.broker.queue.jobs[push.id]?.isDead == true ? 1 : 0)
            add(world.saved?.broker.queue.jobs[push.id]?.isDead == true ? 1 : 0)
        }
        add(-1)
        write(world.broker, world.outage)
        if let saved = world.saved {
            // Only a rollback makes it visible, which takes a tick: what is over by then might as well be over now.
            now += World.tick
            write(saved.broker, saved.outage)
            now = world.now
        }
        for index in order { write(world.workers[index]) }
        writeRequests()
    }

    // MARK: Small things

    private var mayPush: Bool { world.unsent > 0 || !world.unanswered.isEmpty }

    /// Whether a push may ever meet another job of its name. The only job of a scope never does: while the queue has it
    /// or remembers its end, it exists; else no job has the name.
    private var namesMatter: Bool { !world.rules.hasOneJob }

    /// What may be past now, whatever the clock says.
    private var furthest: Time { now + (world.faults.leaps > 0 ? World.leap * World.tick : 0) }

    private mutating func add(_ number: Int) { fingerprint.add(number) }
    private mutating func add(_ flag: Bool) { fingerprint.add(flag ? 1 : 0) }
    private mutating func add(job: String?) { add(job.map { jobs.firstIndex(of: $0) ?? 98 } ?? 99) }
    private mutating func add(session: String?) { add(session.map { sessions.firstIndex(of: $0) ?? 98 } ?? 99) }
    /// A time as ticks from now; what is past is past, unless the clock may still be put back.
    private mutating func add(time: Time, past: Time = 0) {
        add(Int(max((time - now) / World.tick, past - (world.faults.leaps > 0 ? World.leap : 0))))
    }

    private mutating func add(
        _ id: String,
        hasName: Bool,
        _ policy: UniquenessPolicy,
        _ until: UniqueUntil,
        due: Time
    ) {
        add(job: id)
        if namesMatter {
            add((hasName ? 1 : 0) + (policy == .drop ? 2 : policy == .replace ? 4 : 0) + (until == .started ? 8 : 0))
        }
        add(time: due)
    }

    // MARK: The queue

    private mutating func write(_ broker: SharedQueue, _ outage: Outage) {
        for id in jobs { if let job = broker.queue.jobs[id] { write(job, broker) } }
        add(-2)
        add(broker.queue.readyLists.count)
        for line in Self.lines {
            add(-3)
            for id in broker.queue.readyLists[line]?.ids ?? [] { add(job: id) }
        }
        if world.rules.scope.rule != nil { write(broker.queue.groups, broker.queue) }
        if !world.rules.scope.flow.isEmpty { write(broker.queue.workflows) }
        if namesMatter { add(job: broker.queue.holders.values.first) }
        for session in sessions {
            add(session: session)
            let rank = mayPush ? (broker.queue.idle.firstIndex(of: session) ?? -1) + 1 : 0
            if let state = broker.queue.sessions[session] { write(state, broker, rank: rank) }
        }
        add(session: broker.queue.quarantineOwner)
        add(time: broker.queue.pulse.lastBeat ?? now + 90 * World.tick, past: -2)
        add(time: broker.queue.pulse.outageNoticed ?? now + 90 * World.tick, past: -2)
        add(time: broker.queue.pulse.graceEnds)
        // Ahead of the clock only after that was put back.
        add(time: Time(broker.queue.lastToken / 1000))
        let reach = (2 + (world.faults.leaps > 0 ? World.leap : 0)) * World.tick
        let outlook = outage.outlook(at: now, reach: reach)
        add(Int(outlook.silence / World.tick))
        add(outlook.isNoticed)
        add(Int(outlook.grace / World.tick))
    }

    /// There is one group, so the order in which groups are served does not matter.
    private mutating func write(_ groups: MemoryGroups, _ queue: MemoryQueue) {
        for group in Self.groups {
            add(-5)
            for id in queue.readyLists[.group(group, priority: 5)]?.ids ?? [] { add(job: id) }
            add(groups.heldBack[group.text] != nil)
            add(groups.nodes.contains { $0.value.eligible[group.second ?? group.first] != nil })
            add(job: groups.blocked[group.text])
            let long = world.now + 90 * World.tick
            add(time: groups.rates.resting[group.text] ?? long)
            add(time: (groups.rates.times[group.text] ?? 0) / 1000)
        }
        for id in groups.deadBlockers.sorted() { add(job: id) }
        add(groups.reconsiders)
        add(time: world.lastStart?.time ?? 0, past: -World.rateInterval)
    }

    private mutating func write(_ workflows: MemoryWorkflows) {
        for id in workflows.released { add(job: id) }
        add(-6)
        for work in workflows.work { add(work.place.number) }
        guard let workflow = workflows.workflows[World.workflow] else { return }
        add(workflow.state.flatMap { WorkflowState.allCases.firstIndex(of: $0) } ?? 9)
        add((workflow.hasFailure ? 1 : 0) + (workflow.cancelsRest ? 2 : 0) + (workflow.ended == nil ? 4 : 0))
        for (number, member) in workflow.members.enumerated() {
            add(job: member.job)
            add(
                (workflow.open.contains(number) ? 1 : 0) + (workflow.dead.contains(number) ? 2 : 0)
                    + (member.isDead ? 4 : 0)
            )
            add(member.ending.flatMap { JobState.allCases.firstIndex(of: $0.state) } ?? 99)
            for need in member.unmet.sorted() { add(need) }
            add(-7)
            for place in workflows.places[member.job] ?? [] { add(place.number) }
        }
    }

    private mutating func write(_ job: MemoryJob, _ broker: SharedQueue) {
        add(job.id, hasName: job.name != nil, job.header.policy, job.header.until, due: job.due)
        add(job.isNameless)
        add(job.failures)
        add(job.crashes * 8 + job.soloCrashes)
        add(job.hasComeBack)
        if !world.rules.scope.flow.isEmpty { add(time: job.expires ?? world.now + 90 * World.tick) }
        add(job.stop == nil ? 9 : job.stop == .cancel ? 0 : 1)
        add(job: job.successor)
        switch job.place {
        case .listed: add(1)
        case .scheduled, .retrying:
            let due = broker.queue.due(job) ?? 0
            add(job.place == .scheduled ? 2 : 3)
            add(time: due)
            // Of those that are due, the earliest comes first.
            add(
                due > furthest
                    ? 0
                    : broker.queue.jobs.values.count { $0.place == job.place && (broker.queue.due($0) ?? due) < due }
            )
        case .claimed(let session):
            add(4)
            add(session: session)
        case .deferred(let holder):
            add(5)
            add(job: holder)
        case .dead: add(6)
        case .blocked: add(7)
        }
    }

    private mutating func write(_ state: MemorySession, _ broker: SharedQueue, rank: Int) {
        add(time: state.leaseEnds)
        // Who waits is told in order, as long as there may be pushes; what they answer depends on the last call.
        add(
            rank * 8 + (state.dispatchTerms != nil && rank > 0 ? 1 : 0) + (state.dispatchedToken == nil ? 0 : 2)
                + (state.lastCall?.isPreanswered == true ? 4 : 0)
        )
        // Of dead sessions, the one that died first is recovered first.
        if state.leaseEnds <= furthest { add(broker.queue.sessions.values.count { $0.leaseEnds < state.leaseEnds }) }
        for (job, claim) in state.claimsInOrder {
            add(job: job)
            add(claim.token <= state.begun)
            add(claim.token == state.lastCall?.token)
            add(claim.token == state.dispatchedToken)
            add(time: broker.queue.deadline(of: claim), past: -1)
            // What the next outage would make of it.
            add(Int((claim.hardDeadline - claim.made) / World.tick))
            add(time: claim.made)
            if world.rules.scope.rule?.rate != nil {
                add(claim.made >= broker.queue.groups.rates.freshStarts[World.group] ?? 0)
                add(claim.token == world.lastStart?.token)
            }
            if world.rules.clockLeaps {
                // Past its hard deadline, its age does not matter any more.
                add(Int(min(world.realAge(of: claim.token), World.hardDeadline + World.tick) / World.tick))
            }
        }
        add(-4)
    }

    // MARK: Workers and calls

    private mutating func write(_ worker: World.Worker) {
        add((worker.isPaused ? 1 : 0) + (worker.isAwaiting ? 2 : 0) + (worker.mustReconcile ? 4 : 0))
        add(session: worker.session?.id)
        guard let session = worker.session?.id else { return }
        for claim in worker.held where add(claim.id, claim.token, of: session) {
            add(claim.attempt)
            add(worker.stops.contains(claim.id))
        }
        write(begun: worker.held.map(\.token).max() ?? 0, session)
        // Whether its next call is the one that a push has answered, and whether it is yet to hear of that.
        write(isAnswered: worker.lastNumber + 1, session)
        guard let hint = world.hints.first(where: { $0.session == session }) else { return }
        if add(hint.claim.id, hint.claim.token, of: session) { write(begun: hint.claim.token, session) }
    }

    private mutating func write(isAnswered call: Int, _ session: String) {
        add(isAnswered: call, world.broker.queue.sessions[session])
        add(isAnswered: call, world.saved?.broker.queue.sessions[session])
    }

    private mutating func add(isAnswered call: Int, _ state: MemorySession?) {
        add(state?.dispatchedToken != nil && state?.lastReplied == call)
    }

    /// Adds which claims a token fits, and answers whether it fits any.
    private mutating func add(_ id: String, _ token: Token, of session: String) -> Bool {
        let fits = world.broker.queue.sessions[session]?.claims[id]?.token == token
        let fitsSaved = world.saved?.broker.queue.sessions[session]?.claims[id]?.token == token
        add((fits ? 1 : 0) + (fitsSaved ? 2 : 0))
        guard fits || fitsSaved else { return false }
        add(job: id)
        return true
    }

    /// A begun mark matters by how many claims it covers.
    private mutating func write(begun: Token, _ session: String) {
        add(world.broker.queue.sessions[session]?.claims.values.count { $0.token <= begun } ?? 0)
        add(world.saved?.broker.queue.sessions[session]?.claims.values.count { $0.token <= begun } ?? 0)
    }

    private mutating func writeRequests() {
        if world.requests.isEmpty { return }
        var written: [Fingerprint] = []
        for request in world.requests { written.append(fingerprint(of: request)) }
        for one in written.sorted(by: <) {
            add(Int(truncatingIfNeeded: one.high))
            add(Int(truncatingIfNeeded: one.low))
        }
    }

    private func fingerprint(of request: World.Request) -> Fingerprint {
        var writer = self
        writer.fingerprint = Fingerprint()
        writer.add(request)
        return writer.fingerprint
    }

    private mutating func add(_ request: World.Request) {
        let call = request.call
        let session = call.session.id
        add(order.firstIndex(of: request.worker) ?? 9)
        add(session: session)
        add(world.isAwaited(request, by: request.worker))
        let known = number(world.broker, session)
        let saved = world.saved.map { number($0.broker, session) } ?? known
        add((call.call - known).signum())
        add((call.call - saved).signum())
        write(isAnswered: call.call, session)
        add(
            Set(world.requests.filter { $0.call.session.id == session }.map(\.call.call)).count { $0 < call.call }
        )
        // A call that was executed, or came too late, does nothing more.
        guard call.call > min(known, saved) else { return }
        add(call.wanted)
        for report in call.reports where add(report.id, report.token, of: session) {
            add((OutcomeReport.Verb.allCases.firstIndex(of: report.verb) ?? 9) * 8 + report.attempt)
        }
        write(begun: call.begun, session)
    }

    private func number(_ broker: SharedQueue, _ session: String) -> Int {
        broker.queue.sessions[session]?.lastCall?.number ?? 0
    }
}
