/// Claims: which jobs a session gets, and in which order.
extension MemoryQueue {
    /// Jobs of the highest priority are claimed first, but while several priorities wait, one of 16 has the lowest.
    private static let shareOfLowest = 16

    mutating func claim(_ call: Exchange, into answer: inout ExchangeReply) {
        guard !settings.isPaused else {
            answer.isPaused = true
            waitForWakeUp(call.session.id)
            return
        }
        _ = returnRested()
        let (most, isPassedOver) = mostOfQueue(call.wanted, freeSlots: call.freeSlots)
        // Sessions that wait get what comes after a job, instead of the local queue of the one that ended it.
        let isShared = effects.freedByWorkflows > 0 && call.freeSlots > 0 && !idle.isEmpty
        // The end of a job costs more if others may come after it, so fewer of them are to end in one call.
        let affordable = workflows.places.isEmpty ? most : min(most, MemoryRules.membersACall)
        let fitting = isShared ? min(affordable, call.freeSlots) : affordable
        var grant = MemoryGrant(call, most: fitting, token: nextToken)
        if isPassedOver { grant.passedOver += 1 }
        if grant.turnLength > 1, takesTurnsByJob { grant.turnLength = 1 }
        if grant.hasRoom, !serveQuarantined(to: &grant) {
            let foundQuarantined = claimLevels(&grant)
            if foundQuarantined { _ = serveQuarantined(to: &grant) }
        }
        answer.claims = grant.claims
        answer.expired = grant.expired
        answer.awaitsFreeSlot = grant.passedOver > 0
        // Another session may have the free slot that this one lacks.
        if answer.awaitsFreeSlot { effects.newWork += 1 }
        if grant.claims.isEmpty { wait(call.session.id, &answer) } else { settle(grant) }
    }

    /// Makes a session wait for a wake-up. It is not woken for jobs that its own call has made ready but could not
    /// claim.
    private mutating func waitForWakeUp(_ session: String) {
        if effects.newWork > 0 {
            idle.removeAll { $0 == session }
            effects.waitsLater = session
        } else if !idle.contains(session) {
            idle.append(session)
        }
    }

    var nextToken: Token { max(UInt64(clamping: now) &* 1000, lastToken &+ 1) }

    private mutating func wait(_ session: String, _ answer: inout ExchangeReply) {
        if !answer.awaitsFreeSlot {
            answer.hasMore = continueAfterExpiredJobs()
            if answer.hasMore { idle.removeAll { $0 == session } } else { waitForWakeUp(session) }
        }
        answer.hasDueJobs = [scheduled.first(), retrying.first()].contains { $0.map { $0.time <= now } ?? false }
    }

    /// Looks at what comes after jobs that were found expired.
    ///
    /// - Returns: whether some of it is ready now.
    private mutating func continueAfterExpiredJobs() -> Bool {
        let freed = effects.freedByWorkflows
        if !workflows.changed.isEmpty { continueWorkflows() }
        return effects.freedByWorkflows > freed
    }

    private mutating func settle(_ grant: MemoryGrant) {
        lastToken = grant.token
        idle.removeAll { $0 == grant.session }
        groups.rates.start("", grant.claims.count, groups.rule(of: .wholeQueue), at: now)
        freeOfQueue()
        guard settings.publishesStarts else { return }
        for claim in grant.claims {
            guard let job = jobs[claim.id] else { continue }
            publish(.started, of: job, MemoryEventDetails(attempt: claim.attempt, worker: grant.session))
        }
    }

    /// Assigns quarantined jobs: one session at a time runs them, each alone.
    ///
    /// If the quarantine owner still has other jobs, a session without jobs takes over.
    ///
    /// - Returns: whether the session may have no other jobs now.
    private mutating func serveQuarantined(to grant: inout MemoryGrant) -> Bool {
        let areWaiting = readyLists[.quarantined] != nil && !isFirstQuarantinedHeldBack()
        let holdsNothing = sessions[grant.session]?.claims.isEmpty ?? true
        if let quarantineOwner, quarantineOwner != grant.session, sessions[quarantineOwner] != nil {
            let mayTakeOver = holdsNothing && canRunFirstQuarantined(grant.session)
            if runsOnlyQuarantined(quarantineOwner) || (areWaiting && !mayTakeOver) { return false }
        }
        if areWaiting {
            quarantineOwner = grant.session
            if holdsNothing { claim(1, from: .quarantined, &grant) }
            return true
        }
        if quarantineOwner == grant.session, runsOnlyQuarantined(grant.session) { return true }
        quarantineOwner = nil
        return false
    }

    /// Returns whether a session has only a quarantined job.
    private func runsOnlyQuarantined(_ session: String) -> Bool {
        guard let claims = sessions[session]?.claims, claims.count == 1, let id = claims.keys.first else {
            return false
        }
        return jobs[id]?.isQuarantined == true
    }

    /// Whether the group of the first quarantined job is full or rests. Then no quarantined job runs.
    private mutating func isFirstQuarantinedHeldBack() -> Bool {
        guard let job = readyLists[.quarantined]?.first.flatMap({ jobs[$0] }), let group = job.header.group,
            let part = group.limited.map({ GroupName(valid: $0) })
                .first(where: { groups.mustWait($0, for: job.id, at: now) })
        else { return false }
        groups.noteRest(part, at: now)
        // The next one may be able to run.
        readyLists[.quarantined]?.remove(job.id)
        readyLists[.quarantined]?.append(job.id)
        return true
    }

    private func canRunFirstQuarantined(_ session: String) -> Bool {
        guard let id = readyLists[.quarantined]?.first, let operation = jobs[id]?.header.operation else { return false }
        return sessions[session]?.operations[operation] != nil
    }

    /// Claims from the highest priority first, but while several priorities wait, one of 16 jobs has the lowest.
    ///
    /// - Returns: whether this session found a quarantined job that it has to run.
    private mutating func claimLevels(_ grant: inout MemoryGrant) -> Bool {
        var unroutable = MemoryUnroutable(
            lists: unroutableAndKnown(by: grant.session),
            mayServe: quarantineOwner == nil
        )
        while grant.hasRoom {
            let waiting = (0...9).filter {
                readyLists[.ready($0)] != nil || !unroutable.lists[$0].isEmpty || hasGroups($0)
            }
            guard let lowest = waiting.first, let highest = waiting.last else { break }
            if highest == lowest {
                claim(grant.wanted, of: highest, &unroutable, &grant)
                break
            }
            let dueToHighest = Self.shareOfLowest - 1 - turn
            if dueToHighest <= 0 {
                if claim(1, of: lowest, &unroutable, &grant) > 0 { turn = 0 }
            } else {
                turn += claim(dueToHighest, of: highest, &unroutable, &grant)
            }
            if grant.passedOver > 0 { break }
        }
        return unroutable.foundQuarantined
    }

    /// Claims jobs of one priority: unroutable ones were in the queue before those that are ready.
    @discardableResult
    private mutating func claim(
        _ most: Int,
        of level: Int,
        _ unroutable: inout MemoryUnroutable,
        _ grant: inout MemoryGrant
    ) -> Int {
        var taken = 0
        while taken < most, grant.hasRoom, let list = unroutable.lists[level].first {
            taken += claim(most - taken, unroutableIn: list, &unroutable, &grant)
            // The remaining jobs of this list were checked and stay.
            if taken < most || readyLists[list] == nil { unroutable.lists[level].removeFirst() }
        }
        if hasGroups(level) { return taken + claimGroups(most - taken, of: level, &grant) }
        return taken + claim(most - taken, from: .ready(level), &grant)
    }

    @discardableResult
    private mutating func claim(_ most: Int, from list: ReadyListName, _ grant: inout MemoryGrant) -> Int {
        var taken = 0
        while taken < most, grant.hasRoom, let id = readyLists[list]?.first, jobs[id] != nil {
            if claim(id, &grant) { taken += 1 }
        }
        return taken
    }

    @discardableResult
    mutating func claim(_ id: String, _ grant: inout MemoryGrant) -> Bool {
        guard let job = jobs[id] else { return false }
        if let expires = job.expires, expires <= now { return expire(job, &grant) }
        removeFromPlace(id)
        if let group = job.header.group { groups.take(id, of: group, at: now) }
        grant.lastCost = job.header.cost
        jobs[id]?.expires = nil
        let deadline = grant.hardDeadline(of: job, usual: sessions[grant.session]?.longestTimeout ?? 0, now: now)
        claimsMade += 1
        sessions[grant.session]?.claims[id] = MemoryClaim(
            token: grant.token,
            made: now,
            hardDeadline: deadline,
            number: claimsMade,
            charge: grant.charge
        )
        jobs[id]?.place = .claimed(by: grant.session)
        if job.header.until == .started { makeNameless(id) }
        grant.add(claim(of: jobs[id] ?? job, token: grant.token))
        return true
    }

    /// Ends a job that was not claimed in time. Returns false, because it is no claim.
    private mutating func expire(_ job: MemoryJob, _ grant: inout MemoryGrant) -> Bool {
        let event = publish(.expired, of: job, MemoryEventDetails(attempt: job.failures))
        count(.expired)
        end(job.id, as: .expired, event: event)
        grant.expired.append(ExpiredJob(id: job.id, operation: job.header.operation))
        return false
    }
}

/// The claims of one call while they are collected.
struct MemoryGrant {
    let session: String
    let token: Token
    let longestWaitAndGrace: Int64
    private(set) var wanted: Int
    /// How many jobs a group gives in its turn: several if the call claims many jobs, because those are short.
    var turnLength: Int
    private(set) var claims: [Claim] = []
    var expired: [ExpiredJob] = []
    /// The cost of the job that was claimed last.
    var lastCost: Int64 = 1
    /// How many jobs the worker can begin at once.
    let freeSlots: Int
    /// What each claim is charged in advance, if that is by run time.
    var charge: MemoryCharge?
    /// How often a group was passed over, because its jobs are only claimed for a free slot of the worker.
    var passedOver = 0
    private var bytesLeft = MemoryRules.claimedBytes

    init(_ call: Exchange, most: Int, token: Token) {
        session = call.session.id
        self.token = token
        wanted = most
        turnLength = max(1, min(8, call.wanted / 64))
        freeSlots = call.freeSlots
        longestWaitAndGrace = Self.longestWaitAndGrace(of: call)
    }

    /// Makes the grant of one job to a session whose next call is pre-answered.
    init(dispatchingTo session: String, longestWaitAndGrace: Int64, token: Token) {
        self.session = session
        self.token = token
        wanted = 1
        turnLength = 1
        freeSlots = 1
        self.longestWaitAndGrace = longestWaitAndGrace
    }

    static func longestWaitAndGrace(of call: Exchange) -> Int64 {
        MemoryRules.later(MemoryRules.milliseconds(call.longestWait), by: MemoryRules.milliseconds(call.stopGrace))
    }

    var hasRoom: Bool { wanted > 0 && bytesLeft > 0 }

    /// Whether it has as many jobs as the worker can begin at once.
    var fillsSlots: Bool { claims.count >= freeSlots }

    mutating func add(_ claim: Claim) {
        claims.append(claim)
        wanted -= 1
        bytesLeft -= claim.body.count
    }

    /// Returns the time by which an outcome must be reported.
    func hardDeadline(of job: MemoryJob, usual: Int64, now: Int64) -> Int64 {
        let timeout = job.header.timeout.flatMap { $0 > 0 ? $0 : nil } ?? usual
        return MemoryRules.later(MemoryRules.later(now, by: longestWaitAndGrace), by: timeout)
    }
}
