/// What happens to a poller.
extension PollerState {
    /// What a report wakes.
    package enum Wake: Sendable {
        case nothing
        /// The poller, which may wait for something to do.
        case poller
        /// The poller, if it gathers reports.
        case gathering
    }

    // MARK: The broker

    /// Notes the reply to a call. A second reply to the same call changes nothing.
    package mutating func answered(_ reply: ExchangeReply, to number: Int, at now: ContinuousClock.Instant) {
        guard let call = sent, call.call == number else { return }
        sent = nil
        followsReply = true
        slots.settle(wanted: granted, got: reply.claims.count, looked: call.wanted > 0)
        granted = 0
        mayBePreanswered = call.acceptsDirectDispatch && reply.claims.isEmpty
        if reply.isPreanswered { putBack(call.reports) }
        unread = unreadReply(reply, to: call)
        answeredAt = now
        unreadClaims = reply.claims.count
        account.end(claims: reply.claims.count)
        hasDueJobs = reply.hasDueJobs
        if call.wanted > 0 {
            awaitsFreeSlot = reply.awaitsFreeSlot
            poll.note(found: !reply.claims.isEmpty, hurries: reply.hasMore || reply.awaitsFreeSlot, at: now)
        }
    }

    private func unreadReply(_ reply: ExchangeReply, to call: Exchange) -> UnreadReply? {
        let reports = reply.isPreanswered ? [] : call.reports
        guard !reply.claims.isEmpty || (!reports.isEmpty && reply.accepted.contains(false)) else { return nil }
        return UnreadReply(
            reports: reports,
            accepted: reply.accepted,
            claims: reply.claims,
            begun: call.freeSlots > 0 ? reply.claims.first?.token : nil,
            // A pre-answered job was claimed at some time since the previous reply.
            since: reply.isPreanswered ? answeredAt : sentAt,
            areFew: Self.areFew(reply.claims, of: call.wanted)
        )
    }

    /// Returns whether a reply has fewer jobs than the call asked for, and is quickly made into runs.
    private static func areFew(_ claims: [Claim], of wanted: Int) -> Bool {
        !claims.isEmpty && claims.count < min(wanted, PollerLimits.fewClaims)
            && claims.reduce(0) { $0 + $1.body.count } <= PollerLimits.fewBytes
    }

    /// Keeps reports that were not accepted for the next call.
    private mutating func putBack(_ reports: [OutcomeReport]) {
        guard !reports.isEmpty else { return }
        slots.hold(reports.count)
        self.reports.insert(contentsOf: reports, at: 0)
        account.note(known: known)
    }

    /// Notes that the call was not answered and is sent again later. Slots that wait for an unreachable queue would be
    /// lost to the others.
    package mutating func unanswered() {
        slots.suspend(wanted: granted)
        granted = 0
    }

    /// Notes whether a promotion has made jobs ready.
    package mutating func promoted(_ found: Bool) { hasNews = hasNews || found }

    /// Notes that there may be ready jobs.
    package mutating func wokenUp() { hasNews = true }

    /// Keeps a claim with which a push has pre-answered a call. If this wake-up is lost, the call returns the same
    /// claim.
    ///
    /// - Returns: the claim as a reply, if the poller waits: the job then begins sooner if the caller runs it. The poller
    ///   does nothing until ``begunDispatched()``.
    package mutating func wokenUp(with dispatch: DirectDispatch, at now: ContinuousClock.Instant) -> UnreadReply? {
        dispatched = dispatch
        hasNews = true
        guard attention == .waiting, !isLost, !isDraining, case .run(let reply, _) = stepOfDispatch(at: now) else {
            return nil
        }
        attention = .replaced
        return reply
    }

    /// Notes that the caller has run the reply that it got with a wake-up.
    package mutating func begunDispatched() {
        attention = .relieved
    }

    /// Notes the number of claims that the broker has for this session. Returns whether the claims must be compared one
    /// by one.
    package mutating func heartbeatReplied(claims: Int) -> Bool {
        account.note(beat: claims, known: known)
        return account.isInDoubt
    }

    /// Returns the worker's claims for a comparison with the broker's, including those whose report is not answered
    /// yet.
    package mutating func claimsToReconcile() -> [(id: String, token: Token)] {
        account.reset(known: known)
        return claims
    }

    /// The worker's claims.
    var claims: [(id: String, token: Token)] {
        // A job has only one claim: if it is running again, the report of its older claim is obsolete.
        let ended = (reports + (sent?.reports ?? [])).filter { runs[$0.id] == nil }
        return runs.values.map { (id: $0.id, token: $0.token) } + ended.map { (id: $0.id, token: $0.token) }
    }

    // MARK: Runs

    /// Returns the claims of a reply that may run. The others are released: the worker drains, or they have waited too
    /// long.
    package mutating func admitClaims(of reply: UnreadReply, at now: ContinuousClock.Instant) -> [Claim] {
        guard (isDraining && !isLost) || now > limits.latestBegin(reply.since) else { return reply.claims }
        for claim in reply.claims { _ = discarded(OutcomeReport(claim, .released)) }
        return []
    }

    /// Notes that a claim has become a run.
    package mutating func began(_ run: Run) {
        runs[run.id] = run
        unreadClaims -= 1
        account.note(known: known)
    }

    /// Notes the report of a claim that does not become a run.
    package mutating func discarded(_ report: OutcomeReport) -> Wake {
        unreadClaims -= 1
        return add(report)
    }

    /// Notes that a run has ended. Without a report nothing is sent to the broker.
    package mutating func ended(_ run: Run, _ report: OutcomeReport?) -> Wake {
        // Run and report change in one step: a reconciliation in between would release a claim that is neither.
        if runs[run.id]?.token == run.token { runs[run.id] = nil }
        defer { account.note(known: known) }
        guard let report else {
            slots.free(1)
            return isLost ? .poller : .nothing
        }
        return add(report)
    }

    /// Notes the report of a claim whose reply never arrives.
    mutating func setAside(_ report: OutcomeReport) {
        slots.settle(wanted: 0, got: 1, looked: true)
        _ = add(report)
    }

    /// Whether gathering ends: the reports are many, or no run is left that could add another one.
    private var isWorthTheCall: Bool {
        reports.count >= PollerLimits.worthACall || (runs.isEmpty && unreadClaims == 0)
    }

    private mutating func add(_ report: OutcomeReport) -> Wake {
        reports.append(report)
        switch reports.count {
        case 1:
            hasNews = true
            return .poller
        case _ where isLost: return .poller
        default: return hasGathered && isWorthTheCall ? .gathering : .nothing
        }
    }
}

extension OutcomeReport {
    /// Makes the report of a claim that did not run.
    init(_ claim: Claim, _ verb: Verb, fragment: [UInt8] = [], error: String? = nil) {
        self.init(
            id: claim.id,
            token: claim.token,
            verb: verb,
            attempt: claim.attempt,
            fragment: fragment,
            error: error
        )
    }
}
