package import Errand

/// Milliseconds since 1970 by the broker's clock.
package typealias Time = Int64

/// A request for a transition.
package enum Command: Sendable {
    /// Which of the waiting sessions is considered first is the broker's choice: this one, or the longest-waiting one.
    case push([JobEnvelope], first: String? = nil)
    case register(Session)
    case exchange(Exchange)
    case beat(Session, begun: Token)
    case release(Session)
    case promote
    case reconcile(Session, call: Int, runs: [Beat.Stop])
    /// When no session is dead, a broker may look at the hard deadlines of one session of its choice, or of all (`nil`).
    case recover(look: String?)
    case cancel([String])
    case delete([String])
    case retry([String])
    case clear
    case configure(QueueSettings)
    /// Sets the rule of a pattern, or deletes it (`nil`).
    case flow(String, FlowRule?)
    /// Begins the push of a workflow.
    case begin(WorkflowHeader)
    /// Adds jobs to a workflow.
    case add([WorkflowMember], to: String, by: WorkflowClaim?)
    case seal(String)
    /// Nothing of a workflow starts any more. Its jobs are cancelled one by one.
    case stop(String)
}

extension Command: CustomStringConvertible {
    package var description: String {
        switch self {
        case .push(let jobs, let first): "push(\(jobs.map(Self.text)), first: \(first ?? "-"))"
        case .register(let session):
            "register(\(session.id), lease: \(session.lease), \(session.operations.keys.sorted()))"
        case .exchange(let call):
            "exchange(\(call.session.id), call: \(call.call), reports: \(call.reports.map(Self.text)), wanted: "
                + "\(call.wanted), free: \(call.freeSlots), begun: \(call.begun), wait: \(call.longestWait), "
                + "accepts dispatch: \(call.acceptsDirectDispatch))"
        case .beat(let session, let begun): "beat(\(session.id), lease: \(session.lease), begun: \(begun))"
        case .release(let session): "release(\(session.id))"
        case .promote: "promote"
        case .reconcile(let session, let call, let runs):
            "reconcile(\(session.id), call: \(call), \(runs.map { "\($0.id) \($0.token)" }))"
        case .recover(let look): "recover(look: \(look ?? "-"))"
        case .cancel(let ids): "cancel(\(ids))"
        case .delete(let ids): "delete(\(ids))"
        case .retry(let ids): "retry(\(ids))"
        case .clear: "clear"
        case .configure(let change): "configure(\(change))"
        case .flow(let pattern, let rule): "flow(\(pattern), \(rule.map { "\($0)" } ?? "-"))"
        case .begin(let header): "begin(\(header.id.token) \(header.name), \(header.policy), \(header.onDead))"
        case .add(let members, let token, let claim):
            "add(\(members.map(Self.text)), to: \(token), by: \(claim.map { "\($0.id) \($0.token)" } ?? "-"))"
        case .seal(let token): "seal(\(token))"
        case .stop(let token): "stop(\(token))"
        }
    }

    private static func text(_ job: JobEnvelope) -> String {
        let name = job.name.map { ", \($0) until \(job.uniqueUntil)" } ?? ""
        let header = String(decoding: job.bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return "\(job.id) \(job.operation), \(job.policy)\(name), header \(header), due \(job.notBefore)"
    }

    private static func text(_ member: WorkflowMember) -> String {
        let needs = member.needs.map { "\($0.isAdded ? "+" : "")\($0.number) \($0.condition)" }
        return "\(member.number) \(member.key) \(needs): \(text(member.job))"
    }

    private static func text(_ report: OutcomeReport) -> String {
        "\(report.id) \(report.token) \(report.verb), attempt \(report.attempt), retry \(report.retryDelay ?? -1)"
    }
}

/// The answer to a command.
package enum Answer: Equatable, Sendable {
    case done
    case no(BrokerError.Code)
    case receipts([Receipt])
    case exchanged(ExchangeReply)
    case beaten(Beat)
    case promoted(Promotion)
    case recovered(Recovery)
    case reconciled(Reconciliation)
    case endings([EndingOutcome])
    case retries([RetryOutcome])
    case cleared(Int)
    case begun(WorkflowBeginning)
    case added([Int])
    case sealed(WorkflowSealing)
    case stopped(Bool)
}

/// A claim with which a push has answered a call that its session has not made yet.
package struct GivenDispatch: Equatable, Sendable {
    package var session: String
    package var call: Int
    package var claim: Claim

    package init(session: String, call: Int, claim: Claim) {
        self.session = session
        self.call = call
        self.claim = claim
    }
}

extension MemoryQueue {
    /// Makes one transition at a time and answers it; its events and wake-ups are in ``effects``.
    package mutating func apply(_ command: Command, at time: Time) -> Answer {
        beginTransition(at: time)
        defer { endTransition() }
        do throws(BrokerError) { return try answer(command) } catch { return .no(error.code) }
    }

    private mutating func answer(_ command: Command) throws(BrokerError) -> Answer {
        switch command {
        case .push(let jobs, let first): return .receipts(try push(jobs, first: first))
        case .register(let session): try register(session)
        case .exchange(let call): return .exchanged(try exchange(call))
        case .beat(let session, let begun): return .beaten(try beat(of: session, begun: begun))
        case .release(let session): release(session.id)
        case .promote: return .promoted(promote())
        case .reconcile(let session, let call, let runs):
            return .reconciled(try reconcile(session.id, call: call, runs: runs.map { ($0.id, $0.token) }))
        case .recover(let look): return .recovered(recover(lookingAt: look))
        case .cancel(let ids): return .endings(ids.map { cancel($0) })
        case .delete(let ids): return .endings(ids.map { delete($0) })
        case .retry(let ids): return .retries(ids.map { retry($0) })
        case .clear: return .cleared(clear())
        case .configure(let change): try configure(change)
        case .flow(let pattern, let rule): setFlow(try FlowMatching(pattern), rule)
        case .begin(let header): return .begun(try begin(header))
        case .add(let members, let token, let claim): return .added(try add(members, to: token, by: claim))
        case .seal(let token): return .sealed(try seal(token))
        case .stop(let token): return .stopped(stop(token))
        }
        return .done
    }
}

/// What the checks ask of a queue.
extension MemoryJob {
    var isDead: Bool { place == .dead }
    /// The session that runs it.
    var holder: String? { if case .claimed(let session) = place { session } else { nil } }
    /// The job that it waits for.
    var predecessor: String? { if case .deferred(let holder) = place { holder } else { nil } }
}

extension MemoryEvent {
    /// Whether it says that a claim has ended.
    var endsAClaim: Bool {
        switch kind {
        case .finished, .failed, .timedOut, .cancelled, .released, .recovered: details.worker != nil
        case .started, .retrying, .dropped, .replaced, .expired, .dead, .progress, .skipped, .workflowFinished,
            .workflowFailed, .workflowCancelled:
            false
        }
    }
    var isOfAStuckWorker: Bool { details.error?.hasSuffix("the worker is stuck") ?? false }
    var isOfQuarantine: Bool { details.error?.hasPrefix("its worker died") ?? false }
}

extension MemoryEffects {
    /// The sessions that were told that there is work, and those that something is to stop.
    var woken: [String] { wakeUps.filter { if case .work = $0.wakeUp { true } else { false } }.map(\.session) }
    var stopped: [String] { wakeUps.filter { if case .stop = $0.wakeUp { true } else { false } }.map(\.session) }

    /// The job that a session was given before it asked for it.
    var dispatch: GivenDispatch? {
        for entry in wakeUps {
            if case .claimed(_, let call, let claim) = entry.wakeUp {
                return GivenDispatch(session: entry.session, call: call, claim: claim)
            }
        }
        return nil
    }
}

extension MemoryQueue {
    /// When a scheduled or retrying job is due.
    func due(_ job: MemoryJob) -> Time? {
        switch job.place {
        case .scheduled: scheduled[job.id]
        case .retrying: retrying[job.id]
        default: nil
        }
    }

    func isDue(_ job: MemoryJob, at now: Time) -> Bool { due(job).map { $0 <= now } ?? false }

    /// Whether the next beat or recovery will find that the broker had been away.
    func hasUnnoticedOutage(at now: Time) -> Bool {
        guard let lastBeat = pulse.lastBeat else { return false }
        return abs(now - (pulse.outageNoticed ?? lastBeat)) > pulse.longestLease / 2
    }
}
