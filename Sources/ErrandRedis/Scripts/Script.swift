import Errand
import ErrandText
import Synchronization

/// A transition's Lua text, composed of the shared parts that it needs and its own file. It is constant, so that the
/// server caches it.
package struct Script: Sendable {
    /// The name of the transition.
    package let name: String
    /// The whole text.
    package let text: [UInt8]
    /// The text's SHA-1 in hexadecimal, as EVALSHA wants it.
    package let digest: String

    /// What the server permits a script in exceptional situations.
    private enum Kind: String {
        /// Refused if the memory is full: the script needs more.
        case fills = "#!lua\n"
        /// Permitted if the memory is full: ends and heartbeats make room.
        case changes = "#!lua flags=allow-oom\n"
        /// Permitted even if the server takes no writes, for example because it cannot save them.
        case reads = "#!lua flags=no-writes\n"
    }

    /// Composes a script of the parts that it needs and its own file.
    ///
    /// Each function that uses a local variable of the function around it costs a search through all such variables
    /// (Lua's open upvalues), unless that one has it from further out. A script has over a hundred functions, so all
    /// but the most common ones are within a second function.
    private init(
        _ name: String,
        _ own: [UInt8],
        _ parts: [[UInt8]],
        _ kind: Kind = .changes,
        after common: [[UInt8]] = [base, fields, waking, events, types]
    ) {
        let outer = Array(kind.rawValue.utf8) + common.joined()
        self.init(name, text: outer + "return (function()\n".utf8 + parts.joined() + own + "end)()\n".utf8)
    }

    fileprivate init(_ name: String, text: [UInt8]) {
        self.name = name
        self.text = text
        digest = SHA1.hex(text)
    }

    private static let start = PackageResources.lib_base_lua
    private static let base = start + PackageResources.lib_clock_lua
    private static let fields = PackageResources.lib_fields_lua
    private static let reading = PackageResources.lib_reading_lua
    private static let types = PackageResources.lib_types_lua
    private static let waking =
        PackageResources.lib_totals_lua + PackageResources.lib_claim_texts_lua + PackageResources.lib_wakeups_lua
    private static let events =
        PackageResources.lib_headers_lua + PackageResources.lib_events_lua + PackageResources.lib_ended_lua
    private static let jobs =
        [
            PackageResources.lib_rules_lua, PackageResources.lib_rates_lua, PackageResources.lib_groups_lua,
            PackageResources.lib_lists_lua, PackageResources.lib_names_lua, PackageResources.lib_history_lua,
            PackageResources.lib_endings_lua, PackageResources.lib_workflows_lua,
            PackageResources.lib_workflow_states_lua,
        ]
    private static let places = [PackageResources.lib_checked_lua] + jobs
    private static let outages = PackageResources.lib_outages_lua
    private static let sessions = places + [outages, PackageResources.lib_sessions_lua]
    private static let exchanging =
        places + [
            outages, PackageResources.lib_request_lua, PackageResources.lib_charges_lua,
            PackageResources.lib_reports_lua,
            PackageResources.lib_claims_lua, PackageResources.lib_backlog_lua, PackageResources.lib_shares_lua,
            PackageResources.lib_levels_lua, PackageResources.lib_call_lua,
        ]

    private static let pushing =
        places + [
            PackageResources.lib_push_checks_lua, PackageResources.lib_gathering_lua,
            PackageResources.lib_replacements_lua, PackageResources.lib_push_lua,
        ]
    private static let schedules = PackageResources.lib_schedules_lua

    static let push = Script(
        "push",
        PackageResources.push_lua,
        pushing,
        .fills,
        after: [
            base, fields, waking, PackageResources.lib_dispatch_lua, PackageResources.lib_plain_push_lua, events,
            types,
        ]
    )
    static let tick = Script("tick", PackageResources.tick_lua, pushing + [schedules], .fills)
    static let schedule = Script(
        "schedule",
        PackageResources.schedule_lua,
        [schedules],
        .fills
    )
    static let unschedule = Script("unschedule", PackageResources.unschedule_lua, [schedules])
    static let timetable = Script(
        "timetable",
        PackageResources.timetable_lua,
        [schedules],
        .reads,
        after: [base, fields, reading, types]
    )
    static let exchange = Script(
        "exchange",
        PackageResources.exchange_lua,
        exchanging,
        after: [
            start, PackageResources.lib_idle_lua, PackageResources.lib_clock_lua, fields, waking, events,
            PackageResources.lib_plain_call_lua, types,
        ]
    )
    static let heartbeat = Script(
        "heartbeat",
        PackageResources.heartbeat_lua,
        [outages]
    )
    static let register = Script(
        "register",
        PackageResources.register_lua,
        [outages]
    )
    static let recover = Script(
        "recover",
        PackageResources.recover_lua,
        sessions,
        after: [base, PackageResources.lib_idle_recovery_lua, fields, waking, events, types]
    )
    static let reconcile = Script("reconcile", PackageResources.reconcile_lua, sessions)
    static let stream = Script("stream", PackageResources.stream_lua, [], .reads)
    static let cursor = Script("cursor", PackageResources.cursor_lua, [], .fills)
    static let update = Script("update", PackageResources.update_lua, sessions)
    static let promote = Script(
        "promote",
        PackageResources.promote_lua,
        pushing,
        after: [base, PackageResources.lib_idle_promotion_lua, fields, waking, events, types]
    )
    static let release = Script("release", PackageResources.release_lua, sessions)
    static let cancel = Script("cancel", PackageResources.cancel_lua, places)
    static let clear = Script("clear", PackageResources.clear_lua, places)
    static let retry = Script("retry", PackageResources.retry_lua, places)
    static let settings = Script(
        "settings",
        PackageResources.settings_lua,
        places + [schedules, PackageResources.lib_queue_lua]
    )
    static let flow = Script("flow", PackageResources.flow_lua, places)
    /// Only reads, so that it also runs on a server that takes no writes.
    static let plainFlow = Script("flow", PackageResources.flow_lua, places, .reads)
    static let workflow = Script("workflow", PackageResources.workflow_lua, places, .fills)
    static let workflows = Script(
        "workflows",
        PackageResources.workflows_lua,
        [],
        .reads,
        after: [base, fields, reading]
    )
    static let queue = queueing(.changes)
    /// Only reads, so that it also runs on a server that takes no writes.
    static let plainQueue = queueing(.reads)
    private static let counts = PackageResources.lib_counts_lua
    private static let statisticsParts = [counts, PackageResources.lib_statistics_lua]
    static let status = Script("status", PackageResources.status_lua, [counts], .reads, after: [base, fields, reading])
    static let statistics = Script(
        "statistics",
        PackageResources.statistics_lua,
        statisticsParts,
        .reads,
        after: [base, fields, reading]
    )
    static let record = Script("record", PackageResources.record_lua, statisticsParts, .fills)
    static let inspect = Script("inspect", PackageResources.inspect_lua, [], .reads, after: [base, fields, reading])
    static let check = Script(
        "check",
        PackageResources.check_lua,
        [PackageResources.lib_checked_lua],
        .reads
    )
    /// The audit with repairs.
    static let audit = auditing(.changes)
    /// The audit without repairs, which also runs on a server that takes no writes.
    static let plainAudit = auditing(.reads)

    private static func queueing(_ kind: Kind) -> Script {
        Script(
            "queue",
            PackageResources.queue_lua,
            [schedules, PackageResources.lib_queue_lua] + statisticsParts,
            kind
        )
    }

    private static func auditing(_ kind: Kind) -> Script {
        Script(
            "audit",
            PackageResources.audit_lua,
            jobs + [
                schedules, PackageResources.lib_audit_lua, PackageResources.lib_audit_groups_lua,
                PackageResources.lib_audit_pages_lua,
                PackageResources.lib_audit_positions_lua, PackageResources.lib_audit_names_lua,
                PackageResources.lib_audit_schedules_lua, PackageResources.lib_audit_workflows_lua,
            ],
            kind
        )
    }

    /// Whether a producer or an operator relies on the change once it was acknowledged. A lost report of a worker is
    /// repeated.
    var isReliedOn: Bool { Self.reliedOn.contains(name) && !text.starts(with: Kind.reads.rawValue.utf8) }

    private static let reliedOn: Set<String> = [
        "push", "tick", "schedule", "unschedule", "cancel", "clear", "retry", "settings", "flow", "queue", "cursor",
        "workflow",
    ]

    /// All scripts, for documentation and benchmarks.
    package static let all = [
        push, exchange, heartbeat, register, recover, promote, release, cancel, clear, retry, settings, flow, plainFlow,
        queue, plainQueue,
        status, statistics, record, inspect, check, audit, plainAudit, reconcile, tick, schedule, unschedule, timetable,
        update, stream,
        cursor, workflow, workflows,
    ]
}

/// Replaces the text of scripts, for tests that set the clock or change a line on purpose.
package struct ScriptOverrides: Sendable {
    /// The edited scripts by the digest of the original text.
    private let scripts: [String: Script]

    /// Edits every script.
    ///
    /// - Parameter edit: Receives the name and the text of each script and returns the text to run instead.
    package init(_ edit: (_ name: String, _ text: String) throws -> String) rethrows {
        var scripts: [String: Script] = [:]
        for script in Script.all {
            let text = try edit(script.name, String(decoding: script.text, as: UTF8.self))
            scripts[script.digest] = Script(script.name, text: Array(text.utf8))
        }
        self.scripts = scripts
    }

    func script(_ script: Script) -> Script { scripts[script.digest] ?? script }
}

extension Script {
    private static let shardedScripts = Mutex<[String: Script]>([:])

    /// The script for the servers of a cluster: it publishes to the shard that has the queue, and not to all servers.
    package var sharded: Script {
        Self.shardedScripts.withLock { known in
            if let script = known[digest] { return script }
            let text = String(decoding: text, as: UTF8.self)
            let script = Script(
                name,
                text: Array(text.replacing("PUBLISH = 'PUBLISH'", with: "PUBLISH = 'SPUBLISH'").utf8)
            )
            known[digest] = script
            return script
        }
    }
}

/// A call of a script for one queue.
struct ScriptCall {
    var script: Script
    let queue: String
    /// The arguments after the key in encoded form, and their number.
    private(set) var arguments = CommandWriter()
    private(set) var count = 0

    init(_ script: Script, on queue: String) {
        self.script = script
        self.queue = queue
    }

    mutating func add(_ text: String) {
        count += 1
        arguments.add(text)
    }

    mutating func add(_ bytes: [UInt8]) {
        count += 1
        arguments.add(bytes)
    }

    mutating func add(_ number: some BinaryInteger) {
        count += 1
        arguments.add(number)
    }

    /// Returns the command: with the digest, or with the whole text if the server does not have the script.
    ///
    /// It declares two keys that never exist: while a cluster moves the queue's slot, neither server then runs it.
    ///
    /// - Parameters:
    ///   - isSharded: Whether it is for a server of a cluster.
    ///   - replicas: How many replicas to wait for in a second command, for half of the time at most.
    func command(byDigest: Bool, isSharded: Bool, replicas: Int = 0, within time: Duration = .zero) -> CommandWriter {
        let script = isSharded ? script.sharded : script
        let key = KeySpace.key(of: queue)
        var writer = CommandWriter(capacity: arguments.bytes.count + (byDigest ? 256 : script.text.count + 256))
        writer.begin(5 + count)
        writer.add(byDigest ? "EVALSHA" : "EVAL")
        if byDigest { writer.add(script.digest) } else { writer.add(script.text) }
        writer.add("2")
        writer.add(key)
        writer.add(key + KeySpace.gate)
        writer.add(encoded: arguments.bytes)
        guard replicas > 0 else { return writer }
        writer.begin(3)
        writer.add("WAIT")
        writer.add(replicas)
        writer.add(max(1, time.wholeMilliseconds))
        return writer
    }
}

/// The names of keys and channels. `docs/data-model.md` describes their contents.
package enum KeySpace {
    /// The first of the two keys that scripts declare: it determines the queue and its slot.
    package static func key(of queue: String) -> String { "errand:{\(queue)}" }
    /// The end of the second one.
    package static let gate = ":gate"
    /// The channel of a queue's events.
    package static func events(of queue: String) -> String { key(of: queue) + ":events" }
    /// The channel of a session's wake-ups.
    static func wakeUps(of queue: String, _ session: String) -> String { key(of: queue) + ":wakeups:" + session }
    /// The set of all queues' names.
    static let queues = "errand:queues"
    /// Matches the keys of all queues.
    static let pattern = "errand:{*}:*"
    /// The key to which a repair moves a registry that is not a set.
    static let corruptQueues = "errand:corrupt:{errand:queues}"

    /// Returns the queue of one of the names above.
    static func queue(in name: String) -> String? {
        guard name.hasPrefix("errand:{"), let end = name.firstIndex(of: "}") else { return nil }
        return String(name[name.index(name.startIndex, offsetBy: 8)..<end])
    }
}
