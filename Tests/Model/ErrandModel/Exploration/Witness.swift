import Errand

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
    case groupHeldBack, groupLetGo
    case skipped, workflowFinished, workflowFailed, workflowCancelled
}

/// Which of them came about in a step.
struct Witnesses: Sendable {
    private var bits: UInt32 = 0

    mutating func insert(_ witness: Witness) { bits |= 1 << UInt32(witness.rawValue) }

    /// Counts each of them at its place.
    func count(in counts: inout [Int]) {
        var left = bits
        while left != 0 {
            counts[left.trailingZeroBitCount] += 1
            left &= left - 1
        }
    }
}

extension World {
    /// Notes what a transition brought about.
    mutating func witness(_ command: Command, _ answer: Answer, _ before: MemoryQueue) {
        switch answer {
        case .receipts(let receipts): for receipt in receipts { witness(receipt, before) }
        case .no(.sessionLost): witnesses.insert(.sessionLost)
        // Who compares its claims before it has heard of all calls is refused, too.
        case .no(.refused): if case .exchange = command { witnesses.insert(.heldBack) }
        case .exchanged(let reply):
            if !reply.claims.isEmpty { witnesses.insert(.claimed) }
            if reply.isPreanswered { witnesses.insert(.isPreanswered) }
            if reply.accepted.contains(false) { witnesses.insert(.staleReport) }
            if case .exchange(let call) = command, before.sessions[call.session.id]?.lastCall?.number == call.call {
                witnesses.insert(.resent)
            }
        case .beaten(let beat): if !beat.stops.isEmpty { witnesses.insert(.toldToStop) }
        case .promoted(let promotion): if promotion.promoted > 0 { witnesses.insert(.promoted) }
        case .reconciled(let reconciliation):
            if reconciliation.released > 0 { witnesses.insert(.released) }
            if !reconciliation.lost.isEmpty { witnesses.insert(.lostClaim) }
        case .retries(let outcomes): if outcomes.contains(.retried) { witnesses.insert(.retriedByHand) }
        case .done, .no, .recovered, .endings, .cleared, .begun, .added, .sealed, .stopped: break
        }
        for event in effects.events { witness(event) }
        let (held, were) = (broker.queue.groups.heldBack.isEmpty, before.groups.heldBack.isEmpty)
        if held != were { witnesses.insert(held ? .groupLetGo : .groupHeldBack) }
        if effects.dispatch != nil { witnesses.insert(.handedOver) }
        if broker.queue.pulse.leap != before.pulse.leap { witnesses.insert(.grace) }
        for job in before.jobs.values where job.predecessor != nil {
            if let left = broker.queue.jobs[job.id], left.predecessor == nil { witnesses.insert(.successor) }
        }
    }

    private mutating func witness(_ receipt: Receipt, _ before: MemoryQueue) {
        switch receipt.outcome {
        case .dropped: witnesses.insert(.dropped)
        case .replaced: witnesses.insert(.replaced)
        case .deferred:
            witnesses.insert(.deferred)
            if receipt.holder.flatMap({ before.jobs[$0]?.successor }) != nil { witnesses.insert(.supplanted) }
        case .exists: witnesses.insert(.exists)
        case .accepted, .unknown: break
        }
    }

    private mutating func witness(_ event: MemoryEvent) {
        switch event.kind {
        case .retrying: witnesses.insert(.retried)
        case .dead:
            witnesses.insert(.died)
            if event.isOfQuarantine { witnesses.insert(.setAside) }
        case .recovered: witnesses.insert(.recovered)
        case .skipped: witnesses.insert(.skipped)
        case .workflowFinished: witnesses.insert(.workflowFinished)
        case .workflowFailed: witnesses.insert(.workflowFailed)
        case .workflowCancelled: witnesses.insert(.workflowCancelled)
        case .timedOut: if event.isOfAStuckWorker { witnesses.insert(.overdue) }
        default: break
        }
    }
}
