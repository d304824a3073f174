/// Adds up the fingerprint of a world whose workers are looked at in one order.
struct WorldWriter {
    private(set) var fingerprint = Fingerprint()
    private let world: World
    private let order: [Int]
    /// The jobs that matter, by their ids; and the sessions.
    private let jobs: [JobID]
    private let sessions: [SessionID]

    init(_ world: World, _ order: [Int]) {
        self.world = world
        self.order = order
        var jobs = Set(world.unanswered.map(\.id))
        var sessions = order.compactMap { world.workers[$0].session }
        for queue in [world.queue] + (world.saved.map { [$0.queue] } ?? []) {
            for job in queue.jobs.values where !job.isDead || world.faults.revivals > 0 { jobs.insert(job.id) }
            let others = queue.sessions.filter { !sessions.contains($0.key) }
            sessions += others.sorted { ($0.value.leaseEnds, $0.key) < ($1.value.leaseEnds, $1.key) }.map(\.key)
        }
        self.jobs = jobs.sorted()
        self.sessions = sessions
    }

    mutating func write() {
        let faults = world.faults
        for count in [faults.lost, faults.crashes, faults.pauses, faults.rollbacks, faults.leaps] { add(count) }
        add(faults.cancels * 4 + faults.revivals)
        add(world.unsent)
        for push in world.unanswered {
            add(push)
            add(world.queue.ended.ending(of: push.id, at: world.now) == nil ? 0 : 1)
            add(world.saved?.queue.ended.ending(of: push.id, at: world.now) == nil ? 0 : 1)
            add(world.queue.jobs[push.id]?.isDead == true ? 1 : 0)
            add(world.saved?.queue.jobs[push.id]?.isDead == true ? 1 : 0)
        }
        add(-1)
        write(world.queue, world.outage)
        if let saved = world.saved { write(saved.queue, saved.outage) }
        for index in order { write(world.workers[index]) }
        writeRequests()
    }

    // MARK: Small things

    private var mayPush: Bool { world.unsent > 0 || !world.unanswered.isEmpty }

    /// What may be past now, whatever the clock says.
    private var furthest: Time { world.now + (world.faults.leaps > 0 ? World.leap * World.tick : 0) }

    private mutating func add(_ number: Int) { fingerprint.add(number) }
    private mutating func add(_ flag: Bool) { fingerprint.add(flag ? 1 : 0) }
    private mutating func add(job: JobID?) { add(job.map { jobs.firstIndex(of: $0) ?? 98 } ?? 99) }
    private mutating func add(session: SessionID?) { add(session.map { sessions.firstIndex(of: $0) ?? 98 } ?? 99) }
    /// A time as ticks from now; what is past is past, unless the clock may still be put back.
    private mutating func add(time: Time, past: Time = 0) {
        add(Int(max((time - world.now) / World.tick, past - (world.faults.leaps > 0 ? World.leap : 0))))
    }

    private mutating func add(_ push: Push) {
        add(job: push.id)
        add(
            (push.name == nil ? 0 : 1) + push.policy.rawValue * 2 + (push.isUniqueUntilStarted ? 10_240 : 0)
                + (push.retries ?? 9) * 8
        )
        add(time: push.due)
    }

    // MARK: The queue

    private mutating func write(_ queue: QueueModel, _ outage: Outage) {
        for id in jobs { if let job = queue.jobs[id] { write(job, queue) } }
        add(-2)
        add(queue.lines.count)
        for line in [Line.ready(priority: 5), .suspects, .parked(0, priority: 5)] {
            add(-3)
            for id in queue.lines[line] ?? [] { add(job: id) }
        }
        add(job: queue.holders[0])
        for session in sessions {
            add(session: session)
            let rank = mayPush ? (queue.waiting.firstIndex(of: session) ?? -1) + 1 : 0
            if let state = queue.sessions[session] { write(state, queue, rank: rank) }
        }
        add(session: queue.solo)
        add(time: queue.lastBeat ?? world.now + 90 * World.tick, past: -2)
        add(time: queue.gapNoticed ?? world.now + 90 * World.tick, past: -2)
        add(time: queue.graceEnds)
        // Ahead of the clock only after that was put back.
        add(time: queue.lastToken / 1000)
        let reach = (2 + (world.faults.leaps > 0 ? World.leap : 0)) * World.tick
        let outlook = outage.outlook(at: world.now, reach: reach)
        add(Int(outlook.silence / World.tick))
        add(outlook.isNoticed)
        add(Int(outlook.grace / World.tick))
    }

    private mutating func write(_ job: Job, _ queue: QueueModel) {
        add(job.pushed)
        add(job.hasLetNameGo)
        add(job.failures)
        add(job.crashes * 8 + job.crashesAlone)
        add(job.hasComeBack)
        add(job.stop?.rawValue ?? 9)
        add(job: job.successor)
        switch job.place {
        case .line: add(1)
        case .scheduled(let due):
            add(2)
            add(time: due)
            // Of those that are due, the earliest comes first.
            add(queue.dueFirst(.scheduled).count { $0.time < due && due <= furthest })
        case .retrying(let due):
            add(3)
            add(time: due)
            // Of those that are due, the earliest comes first.
            add(queue.dueFirst(.retrying).count { $0.time < due && due <= furthest })
        case .claimed(let session):
            add(4)
            add(session: session)
        case .behind(let holder):
            add(5)
            add(job: holder)
        case .dead: add(6)
        }
    }

    private mutating func write(_ state: SessionState, _ queue: QueueModel, rank: Int) {
        add(time: state.leaseEnds)
        // Who waits is told in order, as long as there may be pushes; what they answer depends on the last call.
        add(
            rank * 8 + (state.openCall != nil && rank > 0 ? 1 : 0) + (state.handed == nil ? 0 : 2)
                + (state.lastCall?.isPreanswered == true ? 4 : 0)
        )
        // Of dead sessions, the one that died first is recovered first.
        if state.leaseEnds <= furthest { add(queue.sessions.values.count { $0.leaseEnds < state.leaseEnds }) }
        for claim in state.claims {
            add(job: claim.id)
            add(claim.token <= state.begun)
            add(claim.token == state.lastCall?.token)
            add(claim.token == state.handed)
            add(time: queue.effectiveDeadline(of: claim), past: -1)
            // What the next outage would make of it.
            add(Int((claim.deadline - claim.made) / World.tick))
            add(time: claim.made)
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
        add(session: worker.session)
        guard let session = worker.session else { return }
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

    private mutating func write(isAnswered call: Int, _ session: SessionID) {
        for queue in [world.queue, world.saved?.queue] {
            let state = queue?.sessions[session]
            add(state?.handed != nil && state?.lastAnswered == call)
        }
    }

    /// Adds which claims a token fits, and answers whether it fits any.
    private mutating func add(_ id: JobID, _ token: Token, of session: SessionID) -> Bool {
        let fits = world.queue.sessions[session]?.claim(of: id)?.token == token
        let fitsSaved = world.saved?.queue.sessions[session]?.claim(of: id)?.token == token
        add((fits ? 1 : 0) + (fitsSaved ? 2 : 0))
        guard fits || fitsSaved else { return false }
        add(job: id)
        return true
    }

    /// A begun mark matters by how many claims it covers.
    private mutating func write(begun: Token, _ session: SessionID) {
        add(world.queue.sessions[session]?.claims.count { $0.token <= begun } ?? 0)
        add(world.saved?.queue.sessions[session]?.claims.count { $0.token <= begun } ?? 0)
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
        add(order.firstIndex(of: request.worker) ?? 9)
        add(session: call.session)
        add(world.isAwaited(request, by: request.worker))
        let known = number(world.queue, call.session)
        let saved = world.saved.map { number($0.queue, call.session) } ?? known
        add((call.number - known).signum())
        add((call.number - saved).signum())
        write(isAnswered: call.number, call.session)
        add(
            Set(world.requests.filter { $0.call.session == call.session }.map(\.call.number)).count { $0 < call.number }
        )
        // A call that was executed, or came too late, does nothing more.
        guard call.number > min(known, saved) else { return }
        add(call.wanted)
        for report in call.reports where add(report.id, report.token, of: call.session) {
            add(report.verb.rawValue * 8 + report.attempt)
        }
        write(begun: call.begun, call.session)
    }

    private func number(_ queue: QueueModel, _ session: SessionID) -> Int {
        queue.sessions[session]?.lastCall?.number ?? 0
    }
}
