import Errand

/// What is promised of workflows.
extension MemoryQueue {
    // MARK: A state

    /// W1: a job that is open has not ended, and has its place; a dead one holds its workflow up; a workflow has ended when
    /// nothing of it is open.
    var brokenWorkflow: String? {
        for (token, workflow) in workflows.workflows {
            for number in workflow.open {
                let member = workflow.members[number]
                guard member.ending == nil, !member.isDead else { return "W1: \(member.key) has ended, and is open" }
                guard member.queue == name else { continue }
                let hasPlace = workflows.places[member.job]?.contains { $0.workflow == token && $0.number == number }
                guard hasPlace == true, let job = jobs[member.job] else {
                    return "W1: \(member.key) is open, and has no job"
                }
                if job.isDead != workflow.dead.contains(number) { return "W1: \(member.key) is dead, or not" }
            }
            if !workflow.dead.isSubset(of: workflow.open) { return "W1: a dead job is not open" }
            guard workflow.state != nil else { continue }
            if workflow.open.isEmpty != (workflow.ended != nil) { return "W1: \(token) has ended, or not" }
        }
        return brokenBlocked
    }

    /// W2: a blocked job waits for one that has not ended, or for what a promotion has to do.
    private var brokenBlocked: String? {
        guard !workflows.workflows.isEmpty else { return nil }
        for job in jobs.values where job.place == .blocked && !workflows.released.contains(job.id) {
            let waits = workflows.places[job.id]?.contains { place in
                guard let workflow = workflows.workflows[place.workflow] else { return false }
                return workflow.state == nil
                    || workflow.members[place.number].unmet.contains { need in
                        workflow.open.contains(need) || workflows.work.contains { $0.place.workflow == place.workflow }
                    }
            }
            if waits != true { return "W2: \(job.id) is blocked, and waits for nothing" }
        }
        return nil
    }

    /// Whether a job of a workflow was dropped when it came free, so that the holder of its name has its place, or was
    /// skipped.
    func hasPassedOnItsPlace(_ id: String) -> Bool {
        workflows.workflows.values.contains { workflow in
            guard let number = workflow.numbers[id] else { return false }
            return workflow.members[number].job != id || workflow.members[number].ending == .skipped
        }
    }

    // MARK: A step

    /// W3: a job of a workflow goes on when all that it comes after has ended as it asks, and is skipped only when one
    /// has not; W4: each end of a workflow is told once; W5: nothing of a stopped workflow starts.
    func brokenWorkflowStep(_ published: MemoryEffects, since before: MemoryQueue) -> String? {
        guard !workflows.workflows.isEmpty else { return nil }
        for job in before.jobs.values where job.place == .blocked && jobs[job.id]?.place != .blocked {
            if let broken = brokenRelease(of: job.id, published, since: before) { return broken }
        }
        for (token, workflow) in workflows.workflows {
            if let broken = brokenEnd(of: token, workflow, published, since: before) { return broken }
        }
        return nil
    }

    private func brokenRelease(of id: String, _ published: MemoryEffects, since before: MemoryQueue) -> String? {
        for place in before.workflows.places[id] ?? [] where place.home == nil {
            guard let workflow = workflows.workflows[place.workflow] else { continue }
            if before.workflows.workflows[place.workflow]?.isStopped == true, jobs[id] != nil {
                return "W5: \(id) goes on though its workflow was stopped"
            }
            if workflow.isStopped { continue }
            let needs = workflow.members[place.number].needs
            let met = needs.map { workflow.isMet($0) }
            if jobs[id] != nil, !met.allSatisfy({ $0 == true }) { return "W3: \(id) goes on before what it waits for" }
            let isSkipped = published.events.contains { $0.kind == .skipped && $0.id == id }
            if isSkipped, !met.contains(false) { return "W3: \(id) was skipped for nothing" }
        }
        return nil
    }

    private func brokenEnd(
        of token: String,
        _ workflow: MemoryWorkflow,
        _ published: MemoryEffects,
        since before: MemoryQueue
    ) -> String? {
        let told = published.events.filter { $0.id == "\(name):\(token)" }.map(\.kind)
        let was = before.workflows.workflows[token]
        if told.count > 1 { return "W4: \(token) was told of twice: \(told)" }
        let isNews = workflow.state == .failed && was?.state != .failed || workflow.ended != nil && was?.ended == nil
        guard isNews, !(workflow.state == .failed && was?.state == .failed) else {
            return told.isEmpty ? nil : "W4: \(told) of \(token) is no news"
        }
        let expected: MemoryEventKind? =
            switch workflow.state {
            case .finished: .workflowFinished
            case .failed: .workflowFailed
            case .cancelled: .workflowCancelled
            case .running, nil: nil
            }
        return told.first == expected ? nil : "W4: \(token) is \(String(describing: workflow.state)), told \(told)"
    }
}

extension MemoryWorkflow {
    /// Whether a need is met; `nil` if it may still be.
    fileprivate func isMet(_ need: WorkflowNeed) -> Bool? {
        let member = members[need.number]
        let isHeld = dead.contains(need.number)
        guard isHeld || !open.contains(need.number) else { return nil }
        let succeeded = member.isDead ? header.onDead == .ignore : member.ending == .finished
        return switch need.condition {
        case .anyEnd: true
        case .success: isHeld ? nil : succeeded
        case .failure: isHeld || !succeeded && member.ending != .skipped
        }
    }
}
