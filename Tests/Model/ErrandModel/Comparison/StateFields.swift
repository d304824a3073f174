import Errand

/// One part of a queue's state: how a script reads it in Redis, and how it is in memory.
struct StateField<Part>: Sendable {
    let name: String
    /// A Lua expression of one number, or of several.
    let lua: String
    let numbers: @Sendable (MemoryQueue, Part) -> [Int64]

    init(_ name: String, _ lua: String, _ number: @escaping @Sendable (MemoryQueue, Part) -> Int64) {
        self.name = name
        self.lua = lua
        numbers = { [number($0, $1)] }
    }

    init(_ name: String, listed lua: String, _ numbers: @escaping @Sendable (MemoryQueue, Part) -> [Int64]) {
        self.name = name
        self.lua = lua
        self.numbers = numbers
    }
}

/// The table of everything that is compared. Texts are numbers by their digits, -1 is nothing.
enum StateFields {
    /// Of a job. In Lua, `id` is its id, `body` what is stored, `place` its kind of place and what that says.
    static let job: [StateField<MemoryJob>] = [
        .init("ready since", "string.sub(body, 1, 13)") { $1.readySince },
        .init("size", "#body") { Int64($1.envelope.count + 13) },
        .init("failures", "field('failures', id) or 0") { Int64($1.failures) },
        .init("crashes", "field('crashes', id) or 0") { Int64($1.crashes) },
        .init("quarantineOwner crashes", "field('solo_crashes', id) or 0") { Int64($1.soloCrashes) },
        .init("has come back", "field('crashes', id) and 1 or 0") { $1.hasComeBack ? 1 : 0 },
        .init("stop", "({ cancel = 1, replace = 2 })[field('stops', id) or ''] or 0") {
            $1.stop == nil ? 0 : $1.stop == .cancel ? 1 : 2
        },
        .init("successor", "(successors[id] or {})[1] or -1") { $1.successor.map(digits) ?? -1 },
        .init("successor's due time", "(successors[id] or {})[2] or 0") { queue, job in
            job.successor.flatMap { queue.jobs[$0]?.due } ?? 0
        },
        .init("errors", "#(field('errors', id) or '')") { Int64(KeptErrors.size(of: $1.errors.events)) },
        .init("name", "digits(field('unique:of', id)) or -1") {
            $1.isDead || $1.place == .blocked ? -1 : $1.heldName.map(digits) ?? -1
        },
        .init("session that runs its name", "digits(field('running', id)) or -1") { _, job in
            job.heldName == nil ? -1 : job.holder.map(digits) ?? -1
        },
        .init("latest due time", "field('debounced', id) or -1") { $1.debounce?.latest ?? -1 },
        .init("place", listed: "unpack(places[id] or { 0, 0 })", place),
        .init("places in workflows", listed: "unpack(places_in_workflows(id))") { queue, job in
            (queue.workflows.places[job.id] ?? []).flatMap { [digits($0.workflow), Int64($0.number)] }
        },
    ]

    /// Of a workflow. In Lua, `w` is its token, `of` reads its header, and `members` has seven numbers of each job.
    static let workflow: [StateField<MemoryWorkflow>] = [
        .init("state", "({ unsealed = 0, running = 1, finished = 2, failed = 3, cancelled = 4 })[of('state')]") {
            $1.state.flatMap { WorkflowState.allCases.firstIndex(of: $0) }.map { Int64($0) + 1 } ?? 0
        },
        .init("round", "of('round')") { Int64($1.round) },
        .init("has a failure", "of('has_failure') and 1 or 0") { $1.hasFailure ? 1 : 0 },
        .init("cancels its rest", "of('cancels') and 1 or 0") { $1.cancelsRest ? 1 : 0 },
        .init("end", "of('ended') or 0") { $1.ended ?? 0 },
        .init("holds its name", "call('HGET', Q .. ':workflow:names', of('name')) == w and 1 or 0") { queue, workflow in
            queue.workflows.names[workflow.header.name] == workflow.header.id.token ? 1 : 0
        },
        .init("jobs", listed: "unpack(members)") { _, workflow in
            workflow.members.enumerated().flatMap { number, member in
                [
                    digits(member.job), workflow.open.contains(number) ? 1 : 0, workflow.dead.contains(number) ? 1 : 0,
                    workflow.letter(of: member), member.endedAt ?? 0,
                    workflow.ended == nil ? Int64(member.unmet.count) : 0,
                    Int64(member.result?.count ?? -1),
                ]
            }
        },
    ]

    /// Of an id that has ended. In Lua, `how` is the letter of its end.
    static let ended: [StateField<MemoryEnding>] = [
        .init("end", "({ f = 0, c = 1, r = 2, x = 3, e = 4, k = 5 })[how]") { _, ending in
            switch ending {
            case .finished: 0
            case .cancelled: 1
            case .replaced: 2
            case .deleted: 3
            case .expired: 4
            case .skipped: 5
            }
        }
    ]

    /// Of a record of the history. In Lua, `line` has its events, `result` its result.
    static let record: [StateField<MemoryHistory.Record>] = [
        .init("time", #"string.match(line, '"at_ms":(%d+),"duration_ms"')"#) { $1.at },
        .init("size", "#line") { Int64(KeptErrors.size(of: $1.events)) },
        .init("result", "#result") { Int64($1.result.count) },
    ]

    /// Of a session. In Lua, `me` reads its fields, `claims` has four numbers of each claim, `outcomes` its last outcomes.
    static let session: [StateField<MemorySession>] = [
        .init("process", "me('pid')") { Int64($1.pid) },
        .init("lease", "me('lease')") { $1.lease },
        .init("end of the lease", "ends") { $1.leaseEnds },
        .init("beat", "me('beat')") { $1.lastBeat },
        .init("begun", "me('begun') or 0") { Int64($1.begun) },
        .init("call", "me('call') or -1") { Int64($1.lastCall?.number ?? -1) },
        .init("token", "me('token') ~= '' and me('token') or 0") { Int64($1.lastCall?.token ?? 0) },
        .init("outcomes", listed: "#outcomes, unpack(outcomes)") { _, session in
            let accepted = session.lastCall?.accepted ?? []
            return [Int64(accepted.count)] + accepted.map { $0 ? 1 : 0 }
        },
        .init("was pre-answered", "me('outcomes') == 'h' and 1 or 0") { $1.lastCall?.isPreanswered == true ? 1 : 0 },
        .init("is dispatchable", "string.match(me('dispatch') or '', '^(%d+):') or -1") { $1.dispatchTerms ?? -1 },
        .init("dispatched token", "string.match(me('dispatch') or '', '^h(%d+)$') or 0") {
            Int64($1.dispatchedToken ?? 0)
        },
        .init("claims", listed: "#claims, unpack(claims)") { _, session in
            let claims = session.claimsInOrder
            return [Int64(claims.count * 4)]
                + claims.flatMap { [digits($0), Int64($1.token), $1.hardDeadline, $1.made] }
        },
    ]

    /// Of the queue.
    static let queue: [StateField<Universe>] =
        [
            .init("holders of names", listed: "unpack(holders)") { queue, universe in
                universe.names.map { queue.holders[MemoryName($0)].map(digits) ?? -1 }
            },
            .init("ends of windows", listed: "unpack(windows)") { queue, universe in
                universe.names.map { queue.windows.end(of: MemoryName($0), now: queue.now) ?? -1 }
            },
            .init("slots of groups", listed: "unpack(slots)") { queue, _ in
                Universe.groups.map { Int64(queue.groups.slots[$0]?.count ?? 0) }
            },
            .init("mean run time", "mean_run") { queue, _ in queue.groups.meanRun },
            .init("jobs that ordered groups wait for", listed: "unpack(blockers)") { queue, _ in
                Universe.groups.map { queue.groups.blocked[$0].map(digits) ?? -1 }
            },
            .init("theoretical arrival times", listed: "unpack(arrivals)") { queue, _ in
                ([""] + Universe.groups).map { group in
                    let time = queue.groups.rates.times[group] ?? 0
                    return time > queue.now * 1000 ? time : 0
                }
            },
            .init("until when groups rest", listed: "unpack(rests)") { queue, _ in
                ([""] + Universe.groups).map { queue.groups.rates.resting[$0] ?? -1 }
            },
            .init("levels at which groups are held back", listed: "unpack(held_back)") { queue, _ in
                Universe.groups.map { group in
                    (queue.groups.heldBack[group] ?? []).reduce(0) { $0 + Int64(1) << Int64($1) }
                }
            },
            .init("virtual times", listed: "unpack(times)") { queue, _ in
                nodes.map { queue.groups.nodes[$0.place]?.eligible[$0.child] ?? -1 }
            },
            .init("ends to go on from", listed: "unpack(work)") { queue, _ in
                queue.workflows.work.flatMap { [digits($0.place.workflow), Int64($0.place.number)] }
            },
            .init("jobs that wait for their names", listed: "unpack(released)") { queue, _ in
                queue.workflows.released.map(digits)
            },
            .init("last beat", "field('runtime', 'beat') or -1") { queue, _ in queue.pulse.lastBeat ?? -1 },
            .init("longest lease", "field('runtime', 'lease') or 0") { queue, _ in queue.pulse.longestLease },
            .init("end of the grace", "field('runtime', 'grace') or 0") { queue, _ in queue.pulse.graceEnds },
            .init("noticed gap", "field('runtime', 'gap') or -1") { queue, _ in queue.pulse.outageNoticed ?? -1 },
            .init("leap", "field('runtime', 'leap') or 0") { queue, _ in queue.pulse.leap },
            .init("last token", "field('runtime', 'token') or 0") { queue, _ in Int64(queue.lastToken) },
            .init("turn", "field('runtime', 'turn') or 0") { queue, _ in Int64(queue.turn) },
            .init("quarantine owner", "digits(field('runtime', 'quarantine_owner')) or -1") { queue, _ in
                queue.quarantineOwner.map(digits) ?? -1
            },
            .init("paused", "field('settings', 'paused') or 0") { queue, _ in queue.settings.isPaused ? 1 : 0 },
            .init("starts", "field('settings', 'starts') or 0") { queue, _ in queue.settings.publishesStarts ? 1 : 0 },
            .init("limit", "field('settings', 'maximum') or 10000000") { queue, _ in
                Int64(queue.settings.maximumLength)
            },
            .init("ids are kept", "field('settings', 'remember_ms') or 60000") { queue, _ in queue.settings.rememberIDs
            },
            .init("history is kept", "field('settings', 'keep_ms') or 86400000") { queue, _ in
                queue.settings.keepHistory
            },
        ]
        + QueueStatus.Totals.names.map { name in
            .init("total of \(name)", "field('counters', '\(name)') or 0") { queue, _ in Int64(queue.totals[name] ?? 0)
            }
        }

    /// The ready lists with their keys; a place in one of them is told by its number here.
    static let lines: [(line: ReadyListName, key: String)] =
        (0...9).map { (.ready($0), "ready:\($0)") } + [(.quarantined, "quarantined")]
        + ["op0", "op1"].flatMap { operation in
            (0...9).map { priority in
                let level = priority == 5 ? "" : ":\(priority)"
                return (.unroutable(operation: operation, priority: priority), "unroutable:\(operation)\(level)")
            }
        }
        + Universe.groups.compactMap { GroupName($0) }.flatMap { group in
            [0, 5, 9].map { (.group(group, priority: $0), "group:\($0):\(group.text)") }
        }

    /// The groups that may run, by level and by first part.
    static let nodes: [(place: MemoryGroupNode.Place, key: String, child: String)] = [0, 5, 9].flatMap { level in
        ["g0", "g1"].map { (MemoryGroupNode.Place(level: level), "\(level)", $0) }
            + [("g0", "u0"), ("g0", "u1"), ("g1", "u0")].map { (first: String, second: String) in
                (MemoryGroupNode.Place(level: level, first: first), "\(level):" + first, second)
            }
    }

    @Sendable private static func place(_ queue: MemoryQueue, _ job: MemoryJob) -> [Int64] {
        switch job.place {
        case .listed(let line): [1, Int64(lines.firstIndex { $0.line == line } ?? -1)]
        case .scheduled: [4, queue.scheduled[job.id] ?? -1]
        case .retrying: [5, queue.retrying[job.id] ?? -1]
        case .claimed(let session): [6, digits(session)]
        case .deferred(let holder): [7, digits(holder)]
        case .dead: [8, queue.dead[job.id] ?? -1]
        case .blocked: [9]
        }
    }

    private static func digits(_ name: MemoryName) -> Int64 { digits(name.bytes) }
    static func digits(_ text: String) -> Int64 { digits(text.utf8) }

    private static func digits(_ bytes: some Sequence<UInt8>) -> Int64 {
        bytes.reduce(0) { (48...57).contains($1) ? $0 &* 10 &+ Int64($1 &- 48) : $0 }
    }
}

extension MemoryWorkflow {
    /// The letter of a member's end as a number, as in ``DumpScript``.
    fileprivate func letter(of member: Member) -> Int64 {
        if member.isDead { return header.onDead == .ignore ? 6 : 7 }
        return switch member.ending {
        case .finished: 1
        case .cancelled: 2
        case .expired: 3
        case .deleted: 4
        case .skipped: 5
        case .replaced, nil: 0
        }
    }
}

/// The state of a queue as numbers, in one order with ``DumpScript``; names tell what they are.
struct StateDump {
    private(set) var numbers: [Int64] = []
    private var names: [(start: Int, name: String)] = []

    init(_ queue: MemoryQueue, _ universe: Universe) {
        for id in universe.ids {
            add(StateFields.job, queue, queue.jobs[id], "10 job \(id)")
            add(StateFields.ended, queue, queue.ended.ending(of: id, now: queue.now), "11 ended \(id)")
            add(StateFields.record, queue, queue.history[id], "12 history of \(id)")
        }
        for (index, line) in StateFields.lines.enumerated() {
            guard let ids = queue.readyLists[line.line]?.ids else { continue }
            append([20, Int64(index), Int64(ids.count)] + ids.map(StateFields.digits), line.key)
        }
        for id in universe.sessions { add(StateFields.session, queue, queue.sessions[id], "30 session \(id)") }
        for token in Universe.workflows {
            add(StateFields.workflow, queue, queue.workflows.workflows[token], "35 workflow \(token)")
        }
        add(StateFields.queue, queue, universe, "40 queue 0")
    }

    /// Adds the kind of a part, the number of its id and its fields, if the queue has it.
    private mutating func add<Part>(
        _ fields: [StateField<Part>],
        _ queue: MemoryQueue,
        _ part: Part?,
        _ heading: String
    ) {
        guard let part else { return }
        let kind = Int64(heading.prefix(2)) ?? -1
        append([kind, StateFields.digits(String(heading.split(separator: " ").last ?? ""))], heading)
        for field in fields { append(field.numbers(queue, part), "\(heading): \(field.name)") }
    }

    private mutating func append(_ more: [Int64], _ name: String) {
        names.append((numbers.count, name))
        numbers += more
    }

    /// Where other numbers differ, or `nil`.
    func difference(from seen: [Int64]) -> String? {
        guard seen != numbers else { return nil }
        let place = zip(seen, numbers).enumerated().first { $1.0 != $1.1 }?.offset ?? min(seen.count, numbers.count)
        let name = names.last { $0.start <= place }?.name ?? "nothing"
        let values = [seen, numbers].map { place < $0.count ? String($0[place]) : "the end" }
        return "state differs at \(name): \(values[0]), not \(values[1])\n\(seen)\n\(numbers)"
    }
}
