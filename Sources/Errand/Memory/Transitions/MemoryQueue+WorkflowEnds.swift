/// What the end of a job means for the jobs that come after it, and for its workflow.
extension MemoryQueue {
    /// A job has ended.
    ///
    /// - Parameter newer: The job that has replaced it.
    mutating func leaveWorkflows(_ id: String, _ ending: MemoryEnding, result: [UInt8] = [], newer: String? = nil) {
        guard let places = workflows.places.removeValue(forKey: id) else { return }
        if let newer { return passOn(places, to: newer) }
        for place in places { tell(.ended(ending, result: result), to: place) }
    }

    /// Notes what has happened to the job of a place, or leaves a message to the queue that has the workflow.
    private mutating func tell(_ news: MemberNews, to place: MemoryWorkflows.Place) {
        guard let home = place.home else { return hear(news, of: place.number, in: place.workflow) }
        let content = MemoryWorkflowMessage.Content.news(news, number: place.number)
        workflows.messages.append(.init(queue: home, workflow: place.workflow, content: content))
    }

    /// Notes what has happened to a member of a workflow of this queue.
    private mutating func hear(_ news: MemberNews, of number: Int, in token: String) {
        let place = MemoryWorkflows.Place(workflow: token, number: number)
        switch news {
        case .ended(let ending, let result): endMember(place, ending, result: result)
        case .died: _ = die(at: place)
        case .retried:
            workflows.workflows[token]?.dead.remove(number)
            workflows.changed.insert(token)
        case .moved(let id):
            workflows.workflows[token]?.members[number].job = id
            workflows.workflows[token]?.numbers[id] = number
        }
    }

    /// Returns what other queues are to be told, which is the broker's task then.
    package mutating func takeMessages() -> [MemoryWorkflowMessage] {
        defer { workflows.messages = [] }
        return workflows.messages
    }

    /// Returns what other queues are to be told because this one is deleted: their workflows wait for jobs here.
    mutating func messagesOfDeletion() -> [MemoryWorkflowMessage] {
        for id in workflows.places.keys.sorted() {
            for place in workflows.places[id] ?? [] where place.home != nil {
                tell(.ended(.deleted, result: []), to: place)
            }
        }
        return takeMessages()
    }

    /// Takes a message of another queue, or of itself: a job that is free, what has happened to one, or what to cancel.
    package mutating func receive(_ message: MemoryWorkflowMessage, from sender: String) {
        switch message.content {
        case .stop: cancelOpenJobs(of: message.workflow)
        case .cancel(let id): _ = cancel(id)
        case .news(let news, let number):
            guard workflows.workflows[message.workflow] != nil else { return }
            hear(news, of: number, in: message.workflow)
        case .arrival(let push, let number):
            guard jobs[push.id] == nil, ended.ending(of: push.id, now: now) == nil else { return }
            jobs[push.id] = push.job(at: now, place: .blocked)
            if let number {
                workflows.places[push.id] = [.init(workflow: message.workflow, number: number, home: sender)]
            }
            workflows.released.append(push.id)
            _ = admitReleased()
        }
    }

    /// Cancels the jobs of a workflow that was stopped, and asks running ones to stop.
    private mutating func cancelOpenJobs(of token: String) {
        for (queue, ids) in jobs(of: token, dead: false).sorted(by: { $0.key < $1.key }) {
            for id in ids {
                if queue == name {
                    _ = cancel(id)
                } else {
                    workflows.messages.append(.init(queue: queue, workflow: token, content: .cancel(id)))
                }
            }
        }
    }

    /// The places of a job pass to another one, which has replaced it or holds the name because of which it was dropped.
    mutating func passOn(_ places: [MemoryWorkflows.Place], to id: String) {
        workflows.places[id, default: []] += places
        for place in places { tell(.moved(to: id), to: place) }
    }

    /// Notes how a member has ended.
    private mutating func endMember(
        _ place: MemoryWorkflows.Place,
        _ ending: MemoryEnding,
        isDead: Bool = false,
        result: [UInt8] = []
    ) {
        guard var workflow = workflows.workflows[place.workflow], workflow.open.remove(place.number) != nil else {
            return
        }
        workflow.dead.remove(place.number)
        workflow.members[place.number].ending = ending
        workflow.members[place.number].endedAt = now
        workflow.members[place.number].isDead = isDead
        let isFatal = isDead && workflow.header.onDead == .cancelRest
        if isFatal, !workflow.cancelsRest {
            workflow.cancelsRest = true
            workflows.messages.append(.init(queue: name, workflow: place.workflow, content: .stop))
        }
        if isFatal || [.cancelled, .expired, .deleted].contains(ending) { workflow.hasFailure = true }
        if ending == .finished, !isDead, workflow.resultBytes + result.count <= WorkflowLimits.resultBytes {
            workflow.resultBytes += result.count
            workflow.members[place.number].result = result
        }
        workflows.workflows[place.workflow] = workflow
        // Nothing runs before the seal, which looks at the dependants of jobs that were cancelled or deleted before it.
        if workflow.state != nil { note(place, workflow.meaning(of: place.number)) }
    }

    mutating func note(_ place: MemoryWorkflows.Place, _ meaning: MemoryWorkflows.Meaning) {
        workflows.work.append(.init(place: place, meaning: meaning))
        workflows.changed.insert(place.workflow)
        effects.concernsWorkflows = true
    }

    /// A job is dead. Unless it holds up its workflow, it has no place there any more.
    mutating func dieInWorkflows(_ id: String) {
        guard let places = workflows.places.removeValue(forKey: id) else { return }
        for place in places {
            if place.home != nil {
                workflows.places[id, default: []].append(place)
                tell(.died, to: place)
            } else if die(at: place) {
                workflows.places[id, default: []].append(place)
            }
        }
    }

    /// Returns whether the dead member holds up its workflow.
    private mutating func die(at place: MemoryWorkflows.Place) -> Bool {
        guard let workflow = workflows.workflows[place.workflow], workflow.open.contains(place.number) else {
            return false
        }
        guard workflow.header.onDead == .hold else {
            endMember(place, .finished, isDead: true)
            return false
        }
        if workflows.workflows[place.workflow]?.dead.insert(place.number).inserted == true { note(place, .held) }
        return true
    }

    /// Somebody retries a dead job.
    mutating func reviveInWorkflows(_ id: String) {
        for place in places(of: id) { tell(.retried, to: place) }
    }

    /// Looks at the dependants of what has ended, at most so many. The rest is left to later calls.
    ///
    /// - Returns: whether something is left.
    @discardableResult
    mutating func continueWorkflows(_ most: Int = MemoryRules.dependantsACall) -> Bool {
        let before = effects.newWork
        defer { effects.freedByWorkflows += effects.newWork - before }
        var left = most
        while left > 0, let work = workflows.work.first {
            let edges = edges(of: work, most: left)
            for edge in edges { apply(work, to: edge) }
            if edges.count < left { workflows.work.removeFirst() }
            left -= max(edges.count, 1)
        }
        let changed = workflows.changed.sorted()
        workflows.changed = []
        for token in changed { settle(token) }
        return !workflows.work.isEmpty
    }

    private func edges(of work: MemoryWorkflows.Work, most: Int) -> [MemoryWorkflow.Dependant] {
        guard let workflow = workflows.workflows[work.place.workflow] else { return [] }
        let all = workflow.dependants(of: work.place.number)
        return all.filter { work.meaning.lets($0.condition) != nil }.sorted { $0.order < $1.order }.prefix(most).map(
            \.self
        )
    }

    private mutating func apply(_ work: MemoryWorkflows.Work, to edge: MemoryWorkflow.Dependant) {
        let (token, dependency) = (work.place.workflow, work.place.number)
        workflows.workflows[token]?.forget(edge, of: dependency)
        guard work.meaning.lets(edge.condition) == true else { return skip(edge.number, of: token) }
        workflows.workflows[token]?.members[edge.number].unmet.remove(dependency)
        if workflows.workflows[token]?.members[edge.number].unmet.isEmpty == true { release(edge.number, of: token) }
    }

    /// A member can never run any more.
    private mutating func skip(_ number: Int, of token: String) {
        workflows.workflows[token]?.members[number].unmet = []
        guard let job = blockedJob(number, of: token) else { return }
        let isStopped = workflows.workflows[token]?.isStopped == true
        endBlocked(job, isStopped ? .cancelled : .skipped)
    }

    private func blockedJob(_ number: Int, of token: String) -> MemoryJob? {
        guard let id = workflows.workflows[token]?.members[number].job, let job = jobs[id], job.place == .blocked else {
            return nil
        }
        return job
    }

    private mutating func endBlocked(_ job: MemoryJob, _ ending: MemoryEnding) {
        let event = publish(ending == .skipped ? .skipped : .cancelled, of: job, MemoryEventDetails())
        count(ending == .skipped ? .skipped : .cancelled)
        end(job.id, as: ending, event: event)
    }

    /// A member has no needs any more: it gets its name and is ready, or scheduled. If another job holds the name, the next
    /// promotion decides.
    private mutating func release(_ number: Int, of token: String) {
        guard let job = blockedJob(number, of: token) else { return }
        if workflows.workflows[token]?.isStopped == true { return endBlocked(job, .cancelled) }
        if let queue = workflows.workflows[token]?.members[number].queue, queue != name {
            jobs[job.id] = nil
            workflows.places[job.id] = nil
            let arrival = MemoryWorkflowMessage.Content.arrival(job.push, number: number)
            return workflows.messages.append(.init(queue: queue, workflow: token, content: arrival))
        }
        let waitsForName =
            job.push.throttledName != nil || job.name.map { holders[$0] != nil || job.push.window > 0 } ?? false
        if waitsForName { return workflows.released.append(job.id) }
        if let name = job.name { holders[name] = job.id }
        jobs[job.id] = job.push.job(at: now, place: .scheduled)
        enqueue(job.id, due: job.push.due)
    }

    private func isOfStoppedWorkflow(_ id: String) -> Bool {
        places(of: id).contains { $0.home == nil && workflows.workflows[$0.workflow]?.isStopped == true }
    }

    /// Decides about jobs whose names other jobs held when they came free. Returns how many.
    mutating func admitReleased() -> Int {
        let released = workflows.released.prefix(100)
        workflows.released.removeFirst(released.count)
        for id in released {
            guard let job = jobs[id], job.place == .blocked else { continue }
            if isOfStoppedWorkflow(id) {
                endBlocked(job, .cancelled)
                continue
            }
            jobs[id] = nil
            let receipt = settleName(job.push)
            guard receipt.outcome == .dropped else { continue }
            count(.dropped)
            let places = workflows.places.removeValue(forKey: id) ?? []
            if let holder = receipt.holder, jobs[holder] != nil {
                passOn(places, to: holder)
            } else {
                for place in places { tell(.ended(.skipped, result: []), to: place) }
            }
        }
        return released.count
    }
}

extension MemoryWorkflow {
    /// What an end is for the dependants of a member.
    func meaning(of number: Int) -> MemoryWorkflows.Meaning {
        guard number != Self.seal else { return .success }
        if dead.contains(number) { return .held }
        let member = members[number]
        if member.isDead { return header.onDead == .ignore ? .success : .failure }
        switch member.ending {
        case .finished: return .success
        case .skipped: return .skipped
        case .cancelled, .expired, .deleted, .replaced, nil: return .failure
        }
    }
}
