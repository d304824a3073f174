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
        if case .recovered(_, more: true) = answer { agenda.add(.request(message), at: now + 1) }
        if faultsStrike, numbers.chance(4) { return note("answer lost") }
        agenda.add(.answer(message, answer), at: now + delay())
    }

    /// A hint goes another way than the answers.
    private mutating func tell(_ handed: DirectDispatch) {
        note("handed over")
        guard let index = workers.firstIndex(where: { $0.session == handed.session }) else { return }
        if faultsStrike, numbers.chance(10) { return note("hint lost") }
        agenda.add(.hint(handed, worker: index, life: workers[index].life), at: now + delay())
    }

    private mutating func noteRare(before command: Command) {
        guard case .exchange(let call) = command, let last = world.queue.sessions[call.session]?.lastCall else {
            return
        }
        if last.number == call.number { note("resend answered") }
    }

    /// Makes a transition on both, compares the answers and judges.
    @discardableResult
    mutating func execute(_ command: Command) -> Answer {
        let time = now + clockOffset
        outcome.actions += 1
        world.now = time
        let before = world.queue
        let (answer, broken) = world.observe(command)
        noteRare(answer, before)
        if let handed = world.queue.effects.handed { tell(handed) }
        do {
            let seen = try subject.answer(command, at: time)
            if seen != answer.sorted { outcome.broken = "\(command) at \(time): answered \(seen), model \(answer)" }
        } catch { outcome.broken = "\(command): \(error)" }
        if let broken { outcome.broken = "\(command) at \(time): \(broken)" }
        if outcome.actions % 16 == 0 { compareStates() }
        return answer
    }

    mutating func compareStates() {
        var envelopes = Envelopes()
        var lengths: [Push: Int64] = [:]
        for job in world.queue.jobs.values {
            lengths[job.pushed] = (try? envelopes.envelope(job.pushed, universe)).map { Int64($0.bytes.count + 13) }
        }
        let words = world.queue.words(universe) { lengths[$0] ?? -1 }
        if words != subject.words { outcome.broken = outcome.broken ?? "state\n\(subject.words)\n model\n\(words)" }
    }

    private mutating func noteRare(_ answer: Answer, _ before: QueueModel) {
        for event in world.queue.effects.events {
            if event.kind == .recovered { note("recovered") }
            if event.kind == .released { note("released") }
            if event.kind == .dead {
                note(event.reason == .said || event.reason == nil ? "dead" : "quarantine or stuck to death")
            }
            if event.kind == .timedOut, event.reason == .stuck { note("overdue taken") }
            if case .killsItsWorkers = event.reason { note("quarantine") }
            if event.kind == .replaced, event.worker != nil { note("successor promoted") }
        }
        if case .exchanged(let accepted, _, _, _, let isPreanswered) = answer {
            if accepted.contains(false) { note("stale report refused") }
            if isPreanswered { note("answered by a push before") }
        }
        if world.queue.graceEnds > before.graceEnds { note("grace granted") }
        if world.queue.solo != nil, before.solo == nil { note("suspect served alone") }
    }
}
