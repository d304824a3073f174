package import Errand
import ErrandOperator
package import ErrandRedis
import ErrandText

/// Checks the server's settings and state for dangers to jobs.
package struct ServerAdvice {
    private let facts: ServerFacts

    /// Reads the facts from the server.
    package init(broker: RedisBroker) async throws(BrokerError) { facts = try await ServerFacts.ask(broker) }

    /// Uses facts that were read before.
    package init(facts: ServerFacts) { self.facts = facts }

    /// All advice about the server.
    package var advice: [Advice] {
        [
            hidden, version, role, eviction, memory, durability, failedSaves, outputBuffers, replies, requests, clock,
            latency,
        ].compactMap(\.self)
    }

    /// The advice that a worker logs when it starts: with these settings it does not work, or may lose jobs.
    package var warnings: [Advice] { [version, role, eviction, failedSaves, replies, requests].compactMap(\.self) }

    private var hidden: Advice? {
        var missing: [String] = []
        if facts.info == nil { missing.append("INFO (version, role, memory, persistence)") }
        if facts.settings["appendfsync"] == nil { missing.append("CONFIG GET (appendfsync, output buffers)") }
        if !facts.mayListKeys { missing.append("SCAN (claims, lists and queues that are not listed elsewhere)") }
        guard !missing.isEmpty else { return nil }
        return Advice(
            kind: "settings_hidden",
            message: "the Redis user of this connection cannot call \(missing.joined(separator: " and ")), "
                + "so these were not checked. Permit it as deploy/redis/errand.acl does, unless the provider does not "
                + "offer it"
        )
    }

    private var version: Advice? {
        guard let info = facts.info else { return nil }
        let version = info["redis_version"] ?? "unknown"
        if let major = version.split(separator: ".").first.flatMap({ Int($0) }), major >= 7 { return nil }
        return Advice(
            kind: "version",
            message: "the server's version is \(version); Errand needs Redis 7 or newer, or Valkey: "
                + "older versions reject its scripts"
        )
    }

    private var role: Advice? {
        guard let role = facts.info?["role"], role != "master" else { return nil }
        return Advice(
            kind: "role",
            message: "the server is a \(role): it rejects writes. Use the address of the primary"
        )
    }

    private var eviction: Advice? {
        guard let policy = facts.info?["maxmemory_policy"], policy != "noeviction" else { return nil }
        return Advice(
            kind: "maxmemory_policy",
            message: "maxmemory-policy is \(policy): a full server would evict jobs. Set it to noeviction"
        )
    }

    private var memory: Advice? {
        guard let used = facts.info?.number("used_memory"), let most = facts.info?.number("maxmemory") else {
            return nil
        }
        if most == 0 {
            guard let system = facts.info?.number("total_system_memory"), system > 0, used > system / 10 * 7 else {
                return nil
            }
            return Advice(
                kind: "maxmemory",
                message: "the server uses \(used >> 20) of the machine's \(system >> 20) MiB and has no maxmemory: "
                    + "the system would kill it. Set maxmemory to about 60 % of the memory; pushes are then rejected instead"
            )
        }
        guard used > most / 10 * 8 else { return nil }
        return Advice(
            kind: "memory",
            message:
                "the server uses \(used >> 20) of \(most >> 20) MiB (maxmemory): when it is full, pushes are rejected. "
                + "Raise maxmemory, or add workers"
        )
    }

    private var durability: Advice? {
        guard facts.info?["aof_enabled"] == "0" else { return fsync }
        let snapshots = facts.settings["save"].map { !$0.isEmpty } ?? true
        return Advice(
            kind: "appendonly",
            message: "appendonly is off: a crash of the server loses every job "
                + (snapshots ? "since its last snapshot" : "it has, as snapshots are off, too") + ". Set appendonly yes"
        )
    }

    private var fsync: Advice? {
        guard facts.settings["appendfsync"] == "no" else { return nil }
        return Advice(
            kind: "appendfsync",
            message: "appendfsync is no: a crash of the machine loses what the system has not written yet. "
                + "Set it to everysec or always"
        )
    }

    private var failedSaves: Advice? {
        let reasons = [
            (
                "aof_last_write_status",
                "could not write its append-only file: it rejects pushes and reports until it can, and what it accepted last "
                    + "is only in its memory, so do not stop it before"
            ),
            (
                "rdb_last_bgsave_status",
                "could not save its last snapshot: it rejects pushes and reports until it can, unless "
                    + "stop-writes-on-bgsave-error is no"
            ),
            (
                "aof_last_bgrewrite_status",
                "could not rewrite its append-only file: the file grows until the disk is full"
            ),
        ]
        guard let (name, reason) = reasons.first(where: { facts.info?[$0.0].map { $0 != "ok" } ?? false }) else {
            return nil
        }
        return Advice(
            kind: "persistence",
            message: "the server \(reason) (\(name)). Free space on its disk, and see its log"
        )
    }

    /// Returns the hard limit of a class of clients in `normal 0 0 0 … pubsub 33554432 8388608 60`.
    private func outputLimit(of clients: Substring) -> Int? {
        let words = facts.settings["client-output-buffer-limit"]?.split(separator: " ") ?? []
        guard let index = words.firstIndex(of: clients), words.indices.contains(index + 1) else { return nil }
        return Int(words[index + 1])
    }

    /// The advice about replies; the largest, a claim, has 8 MiB and one job more.
    private var replies: Advice? {
        guard let most = outputLimit(of: "normal"), most > 0, most < 16 << 20 else { return nil }
        return Advice(
            kind: "reply_limit",
            message:
                "client-output-buffer-limit normal is \(most) bytes: the server closes connections when it sends claims and "
                + "listings of large jobs, and these calls are repeated for fewer jobs. Set it to 0 0 0, or to at least 16mb"
        )
    }

    /// The advice about requests; the largest, a push, has 8 MiB and one job more, and the largest argument is a job.
    private var requests: Advice? {
        let least = [("client-query-buffer-limit", 16, "pushes of many"), ("proto-max-bulk-len", 2, "pushes of")]
        for (name, mebibytes, what) in least {
            guard let most = facts.settings[name].flatMap({ Int($0) }), most > 0, most < mebibytes << 20 else {
                continue
            }
            return Advice(
                kind: "request_limit",
                message: "\(name) is \(most) bytes: the server closes connections at \(what) large jobs. "
                    + "Set it to at least \(mebibytes)mb"
            )
        }
        return nil
    }

    /// The advice about subscribers; the server disconnects one that is slower than its events.
    private var outputBuffers: Advice? {
        guard let most = outputLimit(of: "pubsub") else { return nil }
        if most == 0 {
            return Advice(
                kind: "output_buffers",
                message:
                    "client-output-buffer-limit pubsub is unlimited: one subscriber of events that stops reading "
                    + "fills the server's memory. Set it to 32mb 8mb 60"
            )
        }
        guard most < 1 << 20 else { return nil }
        return Advice(
            kind: "output_buffers",
            message:
                "client-output-buffer-limit pubsub is \(most) bytes: subscribers of events are disconnected all the time. "
                + "Set it to 32mb 8mb 60"
        )
    }

    private var clock: Advice? {
        guard let offset = facts.clockOffset, offset.magnitude > 1000 else { return nil }
        let span = TimeSpanText.rounded(Int64(clamping: offset.magnitude))
        let (position, shift) = offset > 0 ? ("ahead of", "early") : ("behind", "late")
        return Advice(
            kind: "clock",
            message: "the server's clock is \(span) \(position) this machine's. Jobs with a time (--at) and schedules "
                + "follow the server's clock, so they start \(span) \(shift) by this machine's. Synchronize the clocks"
        )
    }

    private var latency: Advice? {
        guard facts.roundTrip > 50 else { return nil }
        return Advice(
            kind: "latency",
            message: "a round trip to the server takes \(Int(facts.roundTrip)) ms at best: pushes one by one are slow. "
                + "Push in batches, and keep workers near the server"
        )
    }
}
