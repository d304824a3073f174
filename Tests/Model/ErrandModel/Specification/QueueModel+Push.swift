extension QueueModel {
    mutating func push(_ pushes: [Push], first: SessionID? = nil) -> Answer {
        // Jobs that it knows need no room, also when there are more jobs than its limit says now.
        let unknown = pushes.count(where: isUnknown)
        guard unknown == 0 || jobs.count + unknown <= settings.maximumLength else { return .no(.full) }
        let receipts = pushes.map { take($0) }
        if pushes.count == 1, receipts == [.accepted] { handOver(pushes[0], first: first) }
        return .receipts(receipts)
    }

    private func isUnknown(_ push: Push) -> Bool {
        jobs[push.id] == nil && ended.ending(of: push.id, at: now) == nil
    }

    private mutating func take(_ push: Push) -> Receipt {
        let receipt = decide(push)
        switch receipt {
        case .accepted, .replaced, .deferred: count(.pushed)
        case .dropped: count(.dropped)
        case .exists: break
        }
        return receipt
    }

    private mutating func decide(_ push: Push) -> Receipt {
        if !isUnknown(push) { return .exists }
        guard let name = push.name else {
            add(push)
            return .accepted
        }
        guard let holder = holders[name].flatMap({ jobs[$0] }) else {
            add(push)
            holders[name] = push.id
            return .accepted
        }
        if push.policy == .drop, !isLeaving(holder) { return drop(push, for: holder) }
        return holder.holder == nil ? replace(holder, by: push, name) : waitBehind(holder, push)
    }

    /// Whether a run was told to stop and nobody waits for that yet.
    private func isLeaving(_ job: Job) -> Bool { job.holder != nil && job.stop != nil && job.successor == nil }

    private mutating func add(_ push: Push) {
        jobs[push.id] = Job(pushed: push, readySince: now, place: .scheduled(push.due))
        lineUp(push.id, due: push.due)
    }

    private mutating func drop(_ push: Push, for holder: Job) -> Receipt {
        publish(.dropped, push)
        return .dropped(holder: holder.successor ?? holder.id)
    }

    /// The holder has not started, so it gives way at once.
    private mutating func replace(_ holder: Job, by push: Push, _ name: Name) -> Receipt {
        let line = Line.ready(priority: push.priority)
        if push.due <= now, holder.place == .line(line), let place = lines[line]?.firstIndex(of: holder.id) {
            jobs[push.id] = Job(pushed: push, readySince: holder.readySince, place: .line(line))
            lines[line]?[place] = push.id
        } else {
            add(push)
        }
        holders[name] = push.id
        giveWay(holder)
        return .replaced(holder.id)
    }

    /// The holder runs: the new job waits for the end of its claim.
    private mutating func waitBehind(_ holder: Job, _ push: Push) -> Receipt {
        jobs[push.id] = Job(pushed: push, readySince: now, place: .behind(holder.id))
        if let older = holder.successor.flatMap({ jobs[$0] }) { giveWay(older) }
        jobs[holder.id]?.successor = push.id
        if push.policy == .replace { tellToStop(holder, because: holder.stop ?? .replace) }
        return .deferred(holder: holder.id)
    }

    private mutating func giveWay(_ job: Job) {
        let event = publish(.replaced, job.pushed)
        count(.replaced)
        end(job.id, as: .replaced, record: event)
    }

    mutating func tellToStop(_ job: Job, because stop: Stop) {
        jobs[job.id]?.stop = stop
        if let session = job.holder { effects.stopHints.append(session) }
    }
}
