import Errand

/// A queue with what is known outside the broker beside it, to judge every transition by: what a simulation, which goes one
/// way only and clears up a little at a time, can remember as a whole.
struct JudgedQueue: Sendable {
    var queue = MemoryQueue(name: "q")
    var now: Time = 0
    var ledger = Ledger()

    struct Ledger: Sendable {
        var accepted: Set<String> = []
        var newestToken: [String: Token] = [:]
        var finished: Set<String> = []
        var greatestToken: Token = 0
        var outage = Outage(lease: Simulation.lease)
        /// What is known of groups; `nil` if the queue has none.
        var flow: FlowRecord?
    }
}

extension JudgedQueue {
    /// Makes a transition and judges it by what was promised.
    mutating func observe(_ command: Command) -> (answer: Answer, broken: String?) {
        let before = queue
        let answer = queue.apply(command, at: now)
        let broken =
            queue.brokenInvariant ?? queue.brokenStep(command, answer, queue.effects, since: before)
            ?? brokenPromise(command, answer, before)
        return (answer, broken)
    }

    private mutating func brokenPromise(_ command: Command, _ answer: Answer, _ before: MemoryQueue) -> String? {
        noteEnds()
        ledger.outage.note(command, answer, at: now)
        return lostJob ?? brokenFence(command, answer, before) ?? brokenTime(command, before) ?? brokenClaim(
            answer,
            before
        )
            ?? brokenEvents(command, before) ?? brokenGrace(command, answer) ?? brokenFlow(command, answer, before)
    }

    private mutating func noteEnds() {
        for event in queue.effects.events where event.kind == .finished { ledger.finished.insert(event.id) }
    }

    /// S1: whatever was accepted is there, or has visibly ended.
    private var lostJob: String? {
        let lost = ledger.accepted.first {
            queue.jobs[$0] == nil && queue.ended.ending(of: $0, now: now) == nil && !queue.hasPassedOnItsPlace($0)
        }
        return lost.map { "S1: job \($0) is lost" }
    }

    /// S4: a report counts only for the newest claim of its job, in the session that holds it.
    private func brokenFence(_ command: Command, _ answer: Answer, _ before: MemoryQueue) -> String? {
        guard case .exchange(let call) = command, case .exchanged(let reply) = answer else { return nil }
        let isResend = before.sessions[call.session.id]?.lastCall?.number == call.call
        for (report, counted) in zip(call.reports, reply.accepted) where counted && !isResend {
            if ledger.newestToken[report.id] != report.token { return "S4: a report with an old token counted" }
            if before.jobs[report.id]?.holder != call.session.id { return "S4: a report from nowhere counted" }
        }
        return nil
    }

    /// S6: nothing comes into line, or further, before its time, unless somebody says so. What is in line stays there when the
    /// clock is put back.
    private func brokenTime(_ command: Command, _ before: MemoryQueue) -> String? {
        var hurried: [String] = []
        if case .retry(let ids) = command { hurried = ids }
        for job in queue.jobs.values where job.due > now && !hurried.contains(job.id) {
            switch (before.jobs[job.id]?.place, job.place) {
            case (nil, .listed), (.scheduled, .listed), (.deferred, .listed), (.blocked, .listed), (nil, .claimed),
                (.scheduled, .claimed), (.deferred, .claimed), (.blocked, .claimed):
                return "S6: job \(job.id) comes too early"
            default: break
            }
        }
        for job in before.jobs.values where !hurried.contains(job.id) {
            guard job.place == .retrying, before.retrying[job.id] ?? 0 > now,
                let after = queue.jobs[job.id]?.place
            else { continue }
            switch after {
            case .listed, .claimed: return "S6: job \(job.id) is tried again too early"
            default: break
            }
        }
        return nil
    }

    /// S5, S9: new claims have new tokens; nothing is claimed after its end.
    private mutating func brokenClaim(_ answer: Answer, _ before: MemoryQueue) -> String? {
        let greatest = ledger.greatestToken
        for (id, session) in queue.sessions {
            let known = Set((before.sessions[id]?.claims ?? [:]).values.map(\.token))
            for (job, claim) in session.claims where !known.contains(claim.token) {
                if claim.token <= greatest { return "S5: token \(claim.token) is not new" }
                if ledger.finished.contains(job) || before.ended.ending(of: job, now: now) != nil {
                    return "S9: job \(job) runs after its end"
                }
                ledger.newestToken[job] = claim.token
                ledger.greatestToken = max(ledger.greatestToken, claim.token)
            }
        }
        return nil
    }

    /// S14 and promise 4: each claim that ended published one ending, and nothing else did.
    private func brokenEvents(_ command: Command, _ before: MemoryQueue) -> String? {
        // A run that did not really take place publishes only what becomes of the job.
        var quiet: Set<String> = []
        if case .exchange(let call) = command {
            let verbs: Set<OutcomeReport.Verb> = [.snoozed, .groupRests, .unroutable, .unreadable]
            quiet = Set(call.reports.filter { verbs.contains($0.verb) }.map(\.id))
        }
        var published: [String: Int] = [:]
        for event in queue.effects.events where event.endsAClaim {
            published[event.id, default: 0] += 1
        }
        for (session, state) in before.sessions {
            for (job, claim) in state.claims {
                let isOver = queue.sessions[session]?.claims[job]?.token != claim.token
                let count = published.removeValue(forKey: job) ?? 0
                if count != (isOver ? 1 : 0), !(isOver && count == 0 && quiet.contains(job)) {
                    return "S14: the end of \(job)'s claim was not published once"
                }
            }
        }
        return published.keys.first.map { "S14: an end of \($0) was published, but it had no claim" }
    }

    /// S17: while nobody could beat, and a lease's time after that, nobody is robbed.
    private func brokenGrace(_ command: Command, _ answer: Answer) -> String? {
        guard case .recover = command, case .recovered(let recovery) = answer,
            recovery.recovered > 0 || recovery.hasMore
        else { return nil }
        return ledger.outage.isGrace(at: now) ? "S17: robbed in the grace after an outage" : nil
    }

    /// G1 to G4: what the rules of groups promise.
    private mutating func brokenFlow(_ command: Command, _ answer: Answer, _ before: MemoryQueue) -> String? {
        guard ledger.flow != nil else { return nil }
        let step = FlowRecord.Step(command: command, answer: answer, before: before, after: queue, now: now)
        return ledger.flow?.brokenRule(in: step)
    }
}
