import Errand

/// The network: what is sent arrives late, in another order, twice or not at all.
extension Simulation {
    mutating func send(_ index: Int, _ command: Command) {
        let message = Agenda.Message(worker: index, life: workers[index].life, command: command)
        if faultsStrike, numbers.chance(4) { return note("request lost") }
        agenda.add(.request(message), at: now + delay())
        if faultsStrike, numbers.chance(2) {
            note("request twice")
            agenda.add(.request(message), at: now + 3 * delay())
        }
    }

    private mutating func delay() -> Time {
        if faultsStrike, numbers.chance(3) { return Time(50 + numbers.below(400)) }
        return Time(1 + numbers.below(8))
    }

    mutating func arrive(_ message: Agenda.Message) {
        guard now >= brokerIsDownUntil else { return note("broker was down") }
        noteRare(before: message.command)
        let answer = execute(message.command)
        if answer == .no(.refused) { note("older call refused") }
        if case .recovered(let recovery) = answer, recovery.hasMore { agenda.add(.request(message), at: now + 1) }
        if faultsStrike, numbers.chance(4) { return note("answer lost") }
        agenda.add(.answer(message, answer), at: now + delay())
    }

    /// A wake-up takes another way than the replies.
    private mutating func wakeUp(_ session: String, _ wakeUp: WakeUp) {
        if case .claimed = wakeUp { note("dispatched") }
        guard let index = workers.firstIndex(where: { $0.session?.id == session }) else { return }
        if faultsStrike, numbers.chance(10) { return note("wake-up lost") }
        agenda.add(.wakeUp(wakeUp, worker: index, life: workers[index].life), at: now + delay())
    }

    private mutating func noteRare(before command: Command) {
        guard case .exchange(let call) = command, let last = world.queue.sessions[call.session.id]?.lastCall else {
            return
        }
        if last.number == call.call { note("resend answered") }
    }

    /// Makes a transition and judges it.
    @discardableResult
    mutating func execute(_ command: Command) -> Answer {
        let time = now + clockOffset
        outcome.actions += 1
        world.now = time
        let before = world.queue
        let (answer, broken) = world.observe(command)
        noteRare(answer, before)
        if usesGroups { noteHeldBack(before) }
        if usesWorkflows { noteWorkflows(command, answer) }
        for entry in world.queue.effects.wakeUps { wakeUp(entry.session, entry.wakeUp) }
        if let broken { outcome.broken = "\(command) at \(time): \(broken)" }
        if outcome.actions % 16 == 0, let finding = world.queue.findings.first {
            outcome.broken = outcome.broken ?? "\(finding)"
        }
        return answer
    }

    private mutating func noteRare(_ answer: Answer, _ before: MemoryQueue) {
        for event in world.queue.effects.events {
            if event.kind == .recovered { note("recovered") }
            if event.kind == .released { note("released") }
            if event.kind == .dead {
                note(event.isOfAStuckWorker || event.isOfQuarantine ? "quarantine or stuck to death" : "dead")
            }
            if event.kind == .timedOut, event.isOfAStuckWorker { note("overdue taken") }
            if event.isOfQuarantine { note("quarantine") }
            if event.kind == .replaced, event.details.worker != nil { note("successor promoted") }
        }
        if case .exchanged(let reply) = answer {
            if reply.accepted.contains(false) { note("stale report refused") }
            if reply.isPreanswered { note("answered by a push before") }
        }
        if world.queue.pulse.graceEnds > before.pulse.graceEnds { note("grace granted") }
        if world.queue.quarantineOwner != nil, before.quarantineOwner == nil { note("suspect served alone") }
    }
}
