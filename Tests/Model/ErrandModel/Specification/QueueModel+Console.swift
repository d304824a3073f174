/// Due jobs, and what an operator does.
extension QueueModel {
    /// Due jobs come into line in the order of their times, those that wait for their first run before those that failed.
    mutating func promote() -> Answer {
        let due = dueFirst(.scheduled) + dueFirst(.retrying)
        let ready = due.filter { $0.time <= now }
        for entry in ready { lineUp(entry.id) }
        let next = due.filter { $0.time > now }.map { $0.time - now }.min()
        return .promoted(ready.count, next: next)
    }

    enum Waiting { case scheduled, retrying }

    /// Jobs that wait for a time, earliest first; those of the same time by their ids.
    func dueFirst(_ kind: Waiting) -> [(id: JobID, time: Time)] {
        jobs.values.compactMap { job in
            switch (job.place, kind) {
            case (.scheduled(let time), .scheduled), (.retrying(let time), .retrying): (id: job.id, time: time)
            default: nil
            }
        }.sorted { ($0.time, $0.id) < ($1.time, $1.id) }
    }

    mutating func cancel(_ id: JobID) -> EndingWord {
        guard let job = jobs[id] else {
            return ended.ending(of: id, at: now) != nil || history.contains { $0.id == id } ? .ended : .notFound
        }
        switch job.place {
        case .dead: return .dead
        case .claimed:
            tellToStop(job, because: .cancel)
            return .stopping
        case .line, .scheduled, .retrying, .behind:
            endWaiting(job, as: .cancelled)
            return .cancelled
        }
    }

    mutating func delete(_ id: JobID) -> EndingWord {
        guard let job = jobs[id] else {
            if let place = history.firstIndex(where: { $0.id == id }) {
                history.remove(at: place)
                effects.touchesHistory = true
                return .deleted
            }
            return ended.ending(of: id, at: now) != nil ? .ended : .notFound
        }
        switch job.place {
        case .claimed: return .running
        case .dead: end(id, as: .deleted)
        case .line, .scheduled, .retrying, .behind: endWaiting(job, as: .deleted)
        }
        return .deleted
    }

    /// A successor that leaves takes back what it asked of its holder.
    private mutating func endWaiting(_ job: Job, as ending: Ending) {
        if case .behind(let holder) = job.place, jobs[holder]?.stop == .replace { jobs[holder]?.stop = nil }
        let event = publish(.cancelled, job.pushed, Run(attempt: job.failures))
        count(.cancelled)
        end(job.id, as: ending, record: ending == .cancelled ? event : nil)
    }

    /// Every waiting job is cancelled; those that wait behind a run come last, by their ids.
    mutating func clear() -> Answer {
        let levels = (0...9).reversed().map { Line.ready(priority: $0) }
        let order = [Line.suspects] + levels + parkedLines
        let inLine = order.flatMap { lines[$0] ?? [] }
        let waiting = inLine + (dueFirst(.scheduled) + dueFirst(.retrying)).map(\.id) + behind
        for job in waiting.compactMap({ jobs[$0] }) { endWaiting(job, as: .cancelled) }
        return .cleared(waiting.count)
    }

    private var behind: [JobID] {
        jobs.values.filter { if case .behind = $0.place { true } else { false } }.map(\.id).sorted()
    }

    /// A dead job starts anew, when its name is free.
    mutating func retry(_ id: JobID) -> RevivalWord {
        guard let job = jobs[id] else { return .notFound }
        guard job.isDead else { return hurry(job) }
        if let name = job.pushed.name {
            if let holder = holders[name] { return .taken(holder: holder) }
            holders[name] = id
            jobs[id]?.hasLetNameGo = false
        }
        jobs[id] = Job(pushed: job.pushed, readySince: now, place: job.place)
        jobs[id]?.errors = job.errors
        lineUp(id)
        return .retried
    }

    /// A job that waits for its time need not.
    private mutating func hurry(_ job: Job) -> RevivalWord {
        switch job.place {
        case .scheduled, .retrying:
            lineUp(job.id)
            return .hurried
        default: return .notDead
        }
    }

    mutating func configure(_ change: SettingsChange) -> Answer {
        let defaults = Settings()
        if let paused = change.isPaused {
            settings.isPaused = paused
            effects.newWork = 1000
        }
        if let starts = change.publishesStarts { settings.publishesStarts = starts }
        if let most = change.maximumLength { settings.maximumLength = most > 0 ? most : defaults.maximumLength }
        if let window = change.rememberIDs { settings.rememberIDs = window > 0 ? Time(window) : defaults.rememberIDs }
        if let time = change.keepHistory { settings.keepHistory = time > 0 ? Time(time) : defaults.keepHistory }
        return .done
    }
}
