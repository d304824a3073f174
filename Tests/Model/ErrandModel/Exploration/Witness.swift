/// Something that a scope must have brought about for its result to say anything.
package enum Witness: Int, CaseIterable, Sendable {
    case dropped, replaced, deferred, exists
    case claimed, staleReport, resent, heldBack, sessionLost
    case retried, died, promoted
    case grace, recovered, overdue
    case toldToStop, successor
    case released, lostClaim
    case retriedByHand
    case handedOver, isPreanswered
    case supplanted, setAside
}

/// Which of them came about in a step.
struct Witnesses: Sendable {
    private var bits: UInt32 = 0

    mutating func insert(_ witness: Witness) { bits |= 1 << UInt32(witness.rawValue) }
    func contains(_ witness: Witness) -> Bool { bits & (1 << UInt32(witness.rawValue)) != 0 }
}

extension World {
    /// Notes what a transition brought about.
    mutating func witness(_ command: Command, _ answer: Answer, _ before: QueueModel) {
        switch answer {
        case .receipts(let receipts): for receipt in receipts { witness(receipt, before) }
        case .no(.sessionLost): witnesses.insert(.sessionLost)
        // Who compares its claims before it has heard of all calls is refused, too.
        case .no(.refused): if case .exchange = command { witnesses.insert(.heldBack) }
        case .exchanged(let accepted, let claims, _, _, let isPreanswered):
            if !claims.isEmpty { witnesses.insert(.claimed) }
            if isPreanswered { witnesses.insert(.isPreanswered) }
            if accepted.contains(false) { witnesses.insert(.staleReport) }
            if case .exchange(let call) = command, before.sessions[call.session]?.lastCall?.number == call.number {
                witnesses.insert(.resent)
            }
        case .beaten(_, let stops): if !stops.isEmpty { witnesses.insert(.toldToStop) }
        case .promoted(let count, _): if count > 0 { witnesses.insert(.promoted) }
        case .reconciled(let count, let lost):
            if count > 0 { witnesses.insert(.released) }
            if !lost.isEmpty { witnesses.insert(.lostClaim) }
        case .revivals(let words): if words.contains(.retried) { witnesses.insert(.retriedByHand) }
        case .done, .no(.full), .recovered, .endings, .cleared: break
        }
        for event in queue.effects.events { witness(event) }
        if queue.effects.handed != nil { witnesses.insert(.handedOver) }
        if queue.leap != before.leap { witnesses.insert(.grace) }
        if before.jobs.values.contains(where: { isBehind($0) && queue.jobs[$0.id].map { !isBehind($0) } ?? false }) {
            witnesses.insert(.successor)
        }
    }

    private func isBehind(_ job: Job) -> Bool { if case .behind = job.place { true } else { false } }

    private mutating func witness(_ receipt: Receipt, _ before: QueueModel) {
        switch receipt {
        case .dropped: witnesses.insert(.dropped)
        case .replaced: witnesses.insert(.replaced)
        case .deferred(let holder):
            witnesses.insert(.deferred)
            if before.jobs[holder]?.successor != nil { witnesses.insert(.supplanted) }
        case .exists: witnesses.insert(.exists)
        case .accepted: break
        }
    }

    private mutating func witness(_ event: Event) {
        switch event.kind {
        case .retrying: witnesses.insert(.retried)
        case .dead:
            witnesses.insert(.died)
            if case .killsItsWorkers = event.reason { witnesses.insert(.setAside) }
        case .recovered: witnesses.insert(.recovered)
        case .timedOut: if event.reason == .stuck { witnesses.insert(.overdue) }
        default: break
        }
    }
}
