package import Errand

/// The state of several queues, and the workers that serve them.
package struct Overview: Sendable {
    /// A session, merged from all queues that it serves.
    package struct Worker: Sendable {
        /// The session; its running jobs are summed over its queues.
        package var session: SessionStatus
        /// The queues that it serves.
        package var queues: [String]
    }

    private var added: [QueueStatus] = []
    /// How many jobs each session runs in each of its queues.
    private var executing: [String: [String: Int]] = [:]
    /// The queues that cannot be read.
    package internal(set) var unreadable: [UnreadablePlace] = []
    /// The servers of the cluster; none if the broker is one server.
    package internal(set) var servers: [ServerState] = []
    private var sessions: [String: Worker] = [:]

    /// Makes an empty overview.
    package init() {}

    /// Adds a queue and merges its sessions with those of the other queues.
    package mutating func add(_ queue: QueueStatus, _ sessions: [SessionStatus]) {
        added.append(queue)
        for session in sessions { merge(session, queue.name) }
    }

    /// The queues, in the order in which they were added.
    package var queues: [QueueStatus] {
        var excess: [String: Int] = [:]
        for (id, shares) in executing {
            guard let worker = sessions[id] else { continue }
            for (queue, share) in shares {
                let left = share.subtractingReportingOverflow(worker.session.part(share, of: shares)).partialValue
                excess[queue] = excess[queue, default: 0].addingReportingOverflow(left).partialValue
            }
        }
        return added.map { queue in
            var queue = queue
            let rest = queue.executing.subtractingReportingOverflow(excess[queue.name, default: 0]).partialValue
            queue.executing = max(0, rest)
            return queue
        }
    }

    private mutating func merge(_ session: SessionStatus, _ queue: String) {
        executing[session.id, default: [:]][queue] = session.executing
        guard var known = sessions[session.id] else {
            sessions[session.id] = Worker(session: session, queues: [queue])
            return
        }
        known.queues.append(queue)
        known.session.running = known.session.running.addingReportingOverflow(session.running).partialValue
        known.session.executing = min(
            known.session.executing.addingReportingOverflow(session.executing).partialValue,
            max(known.session.concurrency, session.concurrency)
        )
        known.session.concurrency = max(known.session.concurrency, session.concurrency)
        known.session.lastBeatMilliseconds = min(known.session.lastBeatMilliseconds, session.lastBeatMilliseconds)
        sessions[session.id] = known
    }

    /// The workers, sorted by host, process and id.
    package var workers: [Worker] {
        sessions.values.sorted {
            ($0.session.host, $0.session.pid, $0.session.id) < ($1.session.host, $1.session.pid, $1.session.id)
        }
    }
}

extension Overview {
    /// The overview as JSON for programs.
    package var json: JSONOutput {
        var members: [(key: String, value: JSONOutput)] = [
            ("queues", .list(queues.map(\.json))), ("workers", .list(workers.map(\.json))),
            ("unreadable", .list(unreadable.map(\.json))),
        ]
        if !servers.isEmpty {
            members.append(("servers", .list(servers.map(\.json))))
            members.append(("unreachable", .list(unreachable.map(JSONOutput.text))))
        }
        return .object(members)
    }

    /// The addresses of the servers that do not reply.
    package var unreachable: [String] { servers.filter { !$0.isReachable }.map(\.address) }
}

extension SessionStatus {
    /// Returns the jobs of one queue that it can run if it runs these in its queues: claims that wait for a free slot are
    /// in all of them, but its concurrency is for all.
    fileprivate func part(_ share: Int, of shares: [String: Int]) -> Int {
        let all = shares.values.reduce(0) { $0 + Double($1) }
        guard all > Double(concurrency) else { return share }
        return Int(exactly: (Double(share) * Double(concurrency) / all).rounded()) ?? share
    }
}

extension ServerState {
    fileprivate var json: JSONOutput {
        [
            "address": .text(address), "follows": .text(orNull: follows), "reachable": .truth(isReachable),
            "queues": .list(queues.map(JSONOutput.text)),
        ]
    }
}

extension QueueStatus {
    fileprivate var json: JSONOutput {
        [
            "name": .text(name), "paused": .truth(isPaused), "ready": .count(ready), "scheduled": .count(scheduled),
            "running": .count(running), "retrying": .count(retrying), "dead": .count(dead),
            "oldest_ready_ms": .count(oldestReadyMilliseconds),
            "totals": .object(Totals.names.map { (key: $0, value: .count(totals[$0])) }),
            "deferred": .count(deferred), "executing": .count(executing),
            "oldest_unroutable_ms": .count(oldestUnroutableMilliseconds), "blocked": .count(blocked),
        ]
    }
}

extension Overview.Worker {
    /// Whether its session is lost.
    package var isLost: Bool { session.isLost }
}

extension Overview.Worker {
    fileprivate var json: JSONOutput {
        [
            "id": .text(session.id), "host": .text(session.host), "pid": .count(session.pid),
            "queues": .list(queues.map(JSONOutput.text)), "running": .count(session.running),
            "concurrency": .count(session.concurrency), "last_beat_ms": .count(session.lastBeatMilliseconds),
            "executing": .count(session.executing), "started_ms": .number(orNull: session.startedAt),
            "version": .text(orNull: session.version),
        ]
    }
}
