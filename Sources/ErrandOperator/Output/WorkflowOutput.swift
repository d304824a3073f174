package import Errand

extension WorkflowReceipt {
    /// Returns the receipt as JSON for programs.
    ///
    /// - Parameter keys: The keys of the jobs, in the order in which they are written.
    package func json(keys: [String]) -> JSONOutput {
        let members = keys.compactMap { key in jobs[key].map { (key: key, value: JSONOutput.text($0)) } }
        let receipt: JSONOutput = [
            "workflow": .text(workflow), "outcome": .text(outcome.rawValue), "jobs": .object(members),
        ]
        return replaced.map { receipt.with(["replaced": .text($0)]) } ?? receipt
    }
}

extension WorkflowRecord {
    /// The workflow as JSON for programs, without its jobs.
    package var json: JSONOutput {
        [
            "id": .text(id.description), "name": .text(name), "state": .text(state.rawValue), "round": .count(round),
            "on_dead": .text(onDead.rawValue), "count": .count(count), "open": .count(open), "dead": .count(dead),
            "pushed_ms": .number(pushedAt), "ended_ms": .number(orNull: endedAt),
        ]
    }
}

extension WorkflowView.Job {
    /// The job as JSON for programs. Its attempt, its last time (claimed, due or dead) and its error are there if it was
    /// looked up.
    package var json: JSONOutput {
        member.json.with([
            "attempt": .number(orNull: summary?.attempt.map { Int64($0) }), "at_ms": .number(orNull: summary?.time),
            "error": .text(orNull: summary?.error),
        ])
    }
}

extension WorkflowMemberRecord {
    /// The job as JSON for programs.
    package var json: JSONOutput {
        let conditions = needs.map { (key: $0.key, value: JSONOutput.text($0.condition.rawValue)) }
        return [
            "key": .text(key), "id": .text(id), "state": .text(state.rawValue),
            "after": .list(needs.map { .text($0.key) }), "queue": .text(queue), "when": .object(conditions),
            "ended_ms": .number(orNull: endedAt),
        ]
    }
}
