import Errand

/// Who else acts: the producer, the operator, and fate.
extension Simulation {
    mutating func produce() throws {
        for job in unanswered { hand(over: job) }
        pushWorkflow()
        if nextJob < Self.jobCount, try !planWorkflow() {
            let job = try nextPush().envelope()
            unanswered.append(job)
            hand(over: job)
        }
        // A rollback may bring back the push of a workflow.
        if nextJob < Self.jobCount || !unanswered.isEmpty || pushedWorkflow != nil || usesWorkflows && faultsStrike {
            agenda.add(.produce, at: now + pauseBetweenPushes())
        }
    }

    /// The next job, of which `made` keeps the description.
    mutating func nextPush() -> Push {
        var push = Push(id: universe.ids[nextJob])
        nextJob += 1
        push.policy = [.ignore, .drop, .replace][numbers.below(3)]
        if push.policy != .ignore {
            push.name = universe.names[numbers.below(Universe.nameCount)]
            push.isUniqueUntilStarted = numbers.below(4) == 0
        }
        push.operation = numbers.chance(7) ? Self.poison : "op0"
        push.priority = [5, 5, 9, 1][numbers.below(4)]
        if numbers.chance(20) { push.due = now + clockOffset + Time(numbers.below(1500)) }
        if numbers.chance(50) { push.retries = numbers.below(3) }
        addGroup(to: &push)
        made[push.id] = push
        return push
    }

    /// The same id again until an answer comes.
    private mutating func hand(over job: JobEnvelope) {
        if faultsStrike, numbers.chance(5) || now < brokerIsDownUntil { return note("push lost") }
        guard case .receipts(let receipts) = execute(.push([job])), let receipt = receipts.first else { return }
        switch receipt.outcome {
        case .accepted, .replaced, .deferred: world.ledger.accepted.insert(job.id)
        case .exists: note("push exists")
        // Its group is full: it is pushed again.
        case .unknown: return
        case .dropped: note("dropped")
        }
        if faultsStrike, numbers.chance(10) { return note("receipt lost") }
        agenda.add(.pushAnswered(job.id), at: now + 2)
    }

    mutating func operate() {
        guard faultsStrike else { return }
        agenda.add(.operate, at: now + Time(100 + numbers.below(700)))
        guard now >= brokerIsDownUntil else { return }
        if usesWorkflows, numbers.chance(15) { return stopWorkflow() }
        let ids = (0...numbers.below(2)).map { _ in universe.ids[numbers.below(max(nextJob, 1))] }
        switch numbers.below(8) {
        case 0...3: execute(.cancel(ids))
        case 4: execute(.retry(ids))
        case 5: execute(.delete(ids))
        case 6:
            let pauses = !world.queue.settings.isPaused && numbers.chance(60)
            execute(.configure(QueueSettings(isPaused: pauses)))
        default: if numbers.chance(20) { execute(.clear) }
        }
    }

    mutating func strike() {
        guard faultsStrike else { return }
        agenda.add(.fault, at: now + Time(50 + numbers.below(900)))
        let index = numbers.below(workers.count)
        switch numbers.below(10) {
        case 0...1:
            note("crash")
            crash(index)
        case 2...3:
            note("pause")
            workers[index].pausedUntil = now + Time(numbers.below(3 * Int(Self.lease)))
        case 4...5: if workers[index].isUp { workers[index].drainsSince = workers[index].drainsSince ?? now }
        case 6...7: loseBroker()
        case 8: if numbers.chance(40) { rollBack() }
        default:
            note("clock jump")
            clockOffset += Time(numbers.below(2000)) - 200
            world.ledger.outage.clockLeapt()
        }
    }

    /// The broker is away for a time, and sometimes for another one before all have noticed that it is back.
    mutating func loseBroker() {
        guard faultsStrike else { return }
        note("outage")
        brokerIsDownUntil = now + Time(numbers.below(3 * Int(Self.lease)))
        if numbers.chance(40) { agenda.add(.outage, at: brokerIsDownUntil + Time(1 + numbers.below(30))) }
    }

    mutating func keepSnapshot() {
        guard faultsStrike else { return }
        agenda.add(.snapshot, at: now + 250)
        let ledger = world.ledger
        snapshots.append(
            Snapshot(
                queue: world.queue,
                accepted: ledger.accepted,
                finished: ledger.finished,
                outage: ledger.outage,
                flow: ledger.flow,
                pushedWorkflow: pushedWorkflow
            )
        )
        if snapshots.count > 4 { snapshots.removeFirst() }
    }

    /// The broker comes back with earlier data: only now may something be lost.
    private mutating func rollBack() {
        guard let snapshot = snapshots.randomElement(using: &numbers) else { return }
        note("rollback")
        brokerIsDownUntil = now + 50
        world.queue = snapshot.queue
        world.ledger.accepted = snapshot.accepted
        world.ledger.finished = snapshot.finished
        world.ledger.outage = snapshot.outage
        world.ledger.flow = snapshot.flow
        pushedWorkflow = snapshot.pushedWorkflow
        world.ledger.newestToken = [:]
        for (id, claim) in world.queue.sessions.values.flatMap(\.claims) { world.ledger.newestToken[id] = claim.token }
        snapshots = []
        // Tokens go by the clock: it must not have gone back behind those that were issued.
        let newest = Time(world.ledger.greatestToken / 1000) + 1
        if now + clockOffset <= newest {
            clockOffset = newest - now + 1
            world.ledger.outage.clockLeapt()
        }
    }
}
