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

    /// The queues, in the order in which they were added.
    package private(set) var queues: [QueueStatus] = []
    /// The queues that cannot be read.
    package internal(set) var unreadable: [UnreadablePlace] = []
    /// The servers of the cluster; none if the broker is one server.
    package internal(set) var servers: [ServerState] = []
    private var sessions: [String: Worker] = [:]

    /// Makes an empty overview.
    package init() {}

    /// Adds a queue and merges its sessions with those of the other queues.
    package mutating func add(_ queue: QueueStatus, _ sessions: [SessionStatus]) {
        queues.append(queue)
        for session in sessions { merge(session, queue.name) }
    }

    private mutating func merge(_ session: SessionStatus, _ queue: String) {
        guard var known = sessions[session.id] else {
            sessions[session.id] = Worker(session: session, queues: [queue])
            return
        }
        known.queues.append(queue)
        known.session.running = known.session.running.addingReportingOverflow(session.running).partialValue
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
            "deferred": .count(deferred),
        ]
    }
}

extension Overview.Worker {
    fileprivate var json: JSONOutput {
        [
            "id": .text(session.id), "host": .text(session.host), "pid": .count(session.pid),
            "queues": .list(queues.map(JSONOutput.text)), "running": .count(session.running),
            "concurrency": .count(session.concurrency), "last_beat_ms": .count(session.lastBeatMilliseconds),
        ]
    }
}
