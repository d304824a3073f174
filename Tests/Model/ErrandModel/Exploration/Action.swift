import Errand

/// One thing that may happen next.
///
/// The answer of a call arrives when the call is executed, or is lost then: what happens between is either hidden in the
/// worker, or comes out the same when it happens before or after.
enum Action: Equatable, Sendable {
    case tick
    /// A job of this kind, of which this waiting session is told first.
    case push(kind: Int, first: String?)
    case pushLosingReceipt(kind: Int), pushAgain(Int)
    /// A worker hears that a push has answered its next call.
    case hear(Int)
    case register(Int), beat(Int), reconcile(Int), leave(Int)
    /// Ends the run, if there is one, and sends the call that says so and asks for more.
    case send(Int, OutcomeReport.Verb?)
    /// The same, executed at once.
    case exchange(Int, OutcomeReport.Verb?)
    case sendAgain(Int)
    case execute(Int), executeLosingAnswer(Int)
    case recover(String?), promote
    case cancel(String), retry(String), delete(String)
    /// Nothing of the workflow starts any more.
    case stop
    case crash(Int), pause(Int), resume(Int)
    case save, rollBack
    case leap(ticks: Time)

    /// What is counted together.
    var kind: ActionKind {
        switch self {
        case .tick: .tick
        case .push: .push
        case .pushLosingReceipt: .pushLosingReceipt
        case .hear: .hear
        case .pushAgain: .pushAgain
        case .register: .register
        case .beat: .beat
        case .reconcile: .reconcile
        case .leave: .leave
        case .send, .exchange: .call
        case .sendAgain: .sendAgain
        case .execute: .execute
        case .executeLosingAnswer: .executeLosingAnswer
        case .recover: .recover
        case .promote: .promote
        case .cancel: .cancel
        case .retry: .retry
        case .delete: .delete
        case .stop: .stop
        case .crash: .crash
        case .pause: .pause
        case .resume: .resume
        case .save: .save
        case .rollBack: .rollBack
        case .leap: .leap
        }
    }
}

/// Actions without their details, to count them.
package enum ActionKind: Int, CaseIterable, Sendable {
    case tick, push, pushLosingReceipt, pushAgain, hear
    case register, beat, reconcile, leave
    case call, sendAgain, execute, executeLosingAnswer
    case recover, promote, cancel, retry, delete, stop
    case crash, pause, resume, save, rollBack, leap
}

extension World {
    /// What may happen next.
    var actions: [Action] {
        var actions: [Action] = everybodyHasBeaten ? [.tick] : []
        if unsent > 0 {
            let first: [String?] = broker.queue.idle.isEmpty ? [nil] : broker.queue.idle
            actions += rules.kinds.flatMap { kind in first.map { .push(kind: kind, first: $0) } }
            if faults.lost > 0 { actions += rules.kinds.map { .pushLosingReceipt(kind: $0) } }
        }
        actions += unanswered.indices.map { .pushAgain($0) }
        for index in workers.indices { actions += self.actions(of: index) }
        actions += requests.indices.map { .execute($0) }
        if faults.lost > 0 { actions += requests.indices.map { .executeLosingAnswer($0) } }
        if hasDueWork { actions.append(.promote) }
        actions += recoveries
        if faults.cancels > 0 {
            actions += broker.queue.jobs.values.filter { !$0.isDead }.map(\.id).sorted().map { .cancel($0) }
        }
        if faults.revivals > 0 {
            actions += broker.queue.jobs.values.filter(\.isDead).map(\.id).sorted().map { .retry($0) }
        }
        if faults.deletions > 0 {
            actions += broker.queue.jobs.values.filter { $0.holder == nil }.map(\.id).sorted().map { .delete($0) }
        }
        if faults.stops > 0 { actions.append(.stop) }
        if faults.rollbacks > 0 { actions.append(saved == nil ? .save : .rollBack) }
        if faults.leaps > 0 { actions += [.leap(ticks: Self.leap), .leap(ticks: -Self.leap)] }
        return actions
    }

    /// Workers that run and reach the broker do not let their leases end: whoever does not beat is paused, or cut off,
    /// which looks the same from outside.
    private var everybodyHasBeaten: Bool {
        workers.allSatisfy { worker in
            guard !worker.isPaused, let session = worker.session?.id else { return true }
            return (broker.queue.sessions[session]?.leaseEnds ?? 0) > now + Self.tick
        }
    }

    /// Recoveries that may change something, whether or not a grace forbids it: of sessions whose leases ended in the same
    /// tick, any may be taken first.
    var recoveries: [Action] {
        if let firstEnd = broker.queue.sessions.values.map(\.leaseEnds).min(), firstEnd <= now {
            return broker.queue.sessions.filter { $0.value.leaseEnds == firstEnd }.keys.sorted().map { .recover($0) }
        }
        let late = broker.queue.sessions.filter { $0.value.claims.values.contains { $0.hardDeadline < now } }.keys
            .sorted()
        return late.isEmpty && broker.queue.hasUnnoticedOutage(at: now) ? [.recover(nil)] : late.map { .recover($0) }
    }

    /// Whether nothing can happen between sending a call and its execution that could not happen before.
    var callsArriveAtOnce: Bool { faults.lost == 0 && faults.crashes == 0 && faults.pauses == 0 }

    private func actions(of index: Int) -> [Action] {
        let worker = workers[index]
        if worker.isPaused { return [.resume(index)] }
        var actions: [Action] = []
        if faults.crashes > 0, !rules.scope.crashesStrikeRuns || !worker.held.isEmpty { actions.append(.crash(index)) }
        if faults.pauses > 0 { actions.append(.pause(index)) }
        guard worker.session != nil else { return actions + [.register(index)] }
        actions.append(.beat(index))
        if worker.isAwaiting {
            if faults.lost > 0 { actions.append(.sendAgain(index)) }
            return actions
        }
        if hints.contains(where: { isNews($0, to: index) }) { actions.append(.hear(index)) }
        if worker.mustReconcile { actions.append(.reconcile(index)) }
        if rules.scope.workersLeave { actions.append(.leave(index)) }
        return actions + verbs(of: worker).map { callsArriveAtOnce ? .exchange(index, $0) : .send(index, $0) }
    }

    /// How its run may end now. A run that was told to stop may have ended otherwise just before.
    private func verbs(of worker: Worker) -> [OutcomeReport.Verb?] {
        guard let claim = worker.held.first else { return [nil] }
        return rules.scope.verbs + (worker.stops.contains(claim.id) ? [.cancelled] : [])
    }
}
