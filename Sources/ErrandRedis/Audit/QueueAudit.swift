import Errand

/// One walk over a queue's data.
///
/// The script that reads a page also compares members with counterparts that it can look up (a name and its holder, a
/// claim and its body). It cannot look up whether a job has exactly one position, because ready lists can only be
/// walked. So the audit first gathers fingerprints of all members, and then looks each body's id up in them. In a queue
/// in use, some members have moved meanwhile; the audit examines these individually, and confirms each remaining
/// suspicion in one script that checks every place at once (`confirm`).
struct QueueAudit {
    /// The number of members a step.
    static let page = 500
    /// The number of findings of a kind that are reported individually.
    private static let mostReported = 100

    let broker: RedisBroker
    let queue: String
    let repair: Bool
    let progress: @Sendable (_ done: Int, _ total: Int) -> Void

    var reported: [String: [Finding]] = [:]
    private var unreported: [String: (count: Int, isRepaired: Bool)] = [:]
    private var done = 0
    private var total = 1

    private var bodies = 0
    /// The number of bodies in a mebibyte, on the page with the largest ones.
    private var bodiesAMebibyte = Self.page
    private var lines: [(name: String, length: Int)] = []
    private var sessions: [String] = []

    /// The members of ready lists, and of all other places.
    private var inLines = Fingerprints()
    private var elsewhere = Fingerprints()
    /// Entries of ready lists that have tombstones.
    private var skipped = Fingerprints()

    init(
        broker: RedisBroker,
        queue: String,
        repair: Bool,
        progress: @escaping @Sendable (_ done: Int, _ total: Int) -> Void
    ) {
        self.broker = broker
        self.queue = queue
        self.repair = repair
        self.progress = progress
    }

    /// Runs the audit, and returns its findings.
    mutating func run() async throws(BrokerError) -> [Finding] {
        try await lookAtKeys()
        for side in ["alias", "alias:of"] { _ = try await walk(side) }
        for session in sessions { try await gather("claims", session) }
        try await gather("successors")
        for id in try await walk("unique:of") { take(try await step("unplaced", id, try await due(of: id))) }
        for step in ["unique", "running"] { _ = try await walk(step) }
        for set in ["scheduled", "retrying", "dead"] { try await gather("due", set) }
        try await gather("blocked_jobs")
        let tombstones = try await tombstones()
        try await walkLines()
        try await walkBodies()
        for side in ["stops", "failures", "crashes", "solo_crashes", "errors", "progress", "checkpoints", "debounced"] {
            _ = try await walk("side_records", side)
        }
        for step in ["idle", "throttled", "throttled:ends", "held_back", "blocked"] { _ = try await walk(step) }
        try await walkWorkflows()
        try await walkSchedules()
        skipped.sort()
        for (entry, count) in tombstones where skipped.times(entry) < max(1, count) {
            take(try await step("tombstone", entry))
        }
        return findings
    }

    // MARK: Steps

    func step(_ words: String...) async throws(BrokerError) -> AuditPage { try await step(words) }

    /// Runs one step, and pauses as long as it took, because the server is mainly for the workers.
    private func step(_ words: [String]) async throws(BrokerError) -> AuditPage {
        var call = ScriptCall(repair ? .audit : .plainAudit, on: queue)
        call.add(repair ? 1 : 0)
        for word in words { call.add(word) }
        let began = ContinuousClock.now
        guard let page = AuditPage(try await broker.run(call)) else { throw broker.unexpected("a step of an audit") }
        do { try await Task.sleep(for: ContinuousClock.now - began) } catch { throw BrokerError(.closed, "cancelled") }
        return page
    }

    /// Runs all pages of a step, and returns their lists.
    mutating func walk(_ step: String, _ name: String = "") async throws(BrokerError) -> [String] {
        var list: [String] = []
        var position: String? = "0"
        while let from = position {
            let page = try await self.step(step, name, from, String(Self.page))
            take(page)
            list += page.list
            position = page.next
        }
        return list
    }

    private mutating func gather(_ step: String, _ name: String = "") async throws(BrokerError) {
        for id in try await walk(step, name) { elsewhere.add(id) }
    }

    private mutating func advance(by count: Int) {
        done += count
        progress(min(done, total), total)
    }

    // MARK: What can be looked at as a whole

    /// Returns the parts after `infix` of the names of the queue's keys.
    private func suffixes(of infix: String) async throws(BrokerError) -> [String] {
        let prefix = KeySpace.key(of: queue) + infix
        return try await broker.keys(like: prefix + "*", for: .queue(queue)).map { String($0.dropFirst(prefix.count)) }
    }

    private mutating func lookAtKeys() async throws(BrokerError) {
        take(try await step("keys"))
        for session in try await suffixes(of: ":claims:") { take(try await step("orphaned_claims", session)) }
        for group in try await suffixes(of: ":unroutable:") { take(try await step("unroutable", group)) }
        for node in try await suffixes(of: ":groups:") { _ = try await walk("eligible", node) }
        for group in try await suffixes(of: ":held:") { _ = try await walk("held", group) }
        for group in try await suffixes(of: ":group:") { take(try await step("group", group)) }
        if repair { for step in ["operations", "groups", "waiting"] { _ = try await walk(step) } }
        // Repeats the step after repairs.
        let (counts, sessions) = try await step("keys").halves
        bodies = counts.first.flatMap { Int($0) } ?? 0
        lines = Self.lines(Array(counts.dropFirst()))
        // A scan may show an operation twice.
        var seen: Set<String> = []
        lines += Self.lines(try await walk("operations")).filter { seen.insert($0.name).inserted }
        lines += Self.lines(try await walk("groups")).filter { seen.insert($0.name).inserted }
        self.sessions = Array(sessions)
        total = max(1, bodies + lines.map(\.length).reduce(0, +))
    }

    /// Pairs of names and lengths.
    private static func lines(_ words: [String]) -> [(name: String, length: Int)] {
        stride(from: 0, to: words.count - 1, by: 2).map { (words[$0], Int(words[$0 + 1]) ?? 0) }
    }

    /// Entries of ready lists that claims skip, and how often.
    private mutating func tombstones() async throws(BrokerError) -> [(entry: String, count: Int)] {
        let list = try await walk("tombstones")
        return stride(from: 0, to: list.count - 1, by: 2).map { (list[$0], Int(list[$0 + 1]) ?? 0) }
    }

    // MARK: Lines and bodies

    private mutating func walkLines() async throws(BrokerError) {
        for line in lines {
            var previous: [String] = []
            var position: String? = "0"
            while let from = position {
                let page = try await step("ready_list", line.name, from, String(Self.page))
                take(page)
                let ids = Array(page.halves.first)
                // New jobs at the end move members of this page to the next one.
                for id in ids.dropFirst(Self.overlap(previous, ids)) { inLines.add(id) }
                for entry in page.halves.second { skipped.add(entry) }
                previous = ids
                advance(by: ids.count)
                position = page.next
            }
        }
    }

    /// Returns how many ids the end of one page and the beginning of the next have in common.
    private static func overlap(_ previous: [String], _ next: [String]) -> Int {
        guard let first = next.first, var start = previous.lastIndex(of: first) else { return 0 }
        while true {
            let count = previous.count - start
            if count <= next.count, previous[start...].elementsEqual(next.prefix(count)) { return count }
            guard let earlier = previous[..<start].lastIndex(of: first) else { return 0 }
            start = earlier
        }
    }

    private mutating func walkBodies() async throws(BrokerError) {
        inLines.sort()
        elsewhere.sort()
        var missing: [String] = []
        var several: [String] = []
        var nameless: [String] = []
        var position: String? = "0"
        var count = 1
        while let from = position {
            let page = try await step("bodies", "", from, String(count))
            take(page)
            let (ids, lacking) = page.halves
            for id in ids.dropFirst() {
                let (waits, others) = (inLines.times(id), elsewhere.times(id))
                if waits + others == 0 { missing.append(id) } else if waits + others > 1 { several.append(id) }
            }
            nameless += lacking
            // A page has about 1 MiB at most; an empty page gives no estimate for the next.
            let seen = max(0, ids.count - 1)
            if seen > 0, let bytes = ids.first.flatMap({ Int($0) }) {
                let fitting = (1 << 20) / max(1, bytes / seen)
                bodiesAMebibyte = min(bodiesAMebibyte, max(1, fitting))
                // Increases gradually: large bodies may follow small ones.
                count = min(Self.page, 2 * count, max(1, fitting))
            }
            advance(by: seen)
            position = page.next
        }
        try await settle(missing: missing, several: several)
        for id in nameless { try await name(id) }
    }

    private mutating func settle(missing: [String], several: [String]) async throws(BrokerError) {
        let waiting = try await examine(missing).filter { $0.places == 0 }
        for candidate in try await examine(lookAgain(for: waiting)) where candidate.places == 0 {
            try await confirm(candidate.id)
        }
        for candidate in try await examine(several) where candidate.places != -1 {
            let waits = inLines.times(candidate.id)
            if candidate.places + min(waits, 1) > 1 || waits > 1 { try await confirm(candidate.id) }
        }
    }

    private struct Candidate {
        let id: String
        /// The number of places except ready lists; -1 if the job is gone.
        let places: Int
        let line: String
    }

    /// Counts the places of ids, except ready lists.
    private func examine(_ ids: [String]) async throws(BrokerError) -> [Candidate] {
        var candidates: [Candidate] = []
        let portion = max(1, min(200, bodiesAMebibyte, 4000 / (sessions.count + 10)))
        for start in stride(from: 0, to: ids.count, by: portion) {
            let list = try await step(["examine"] + ids[start..<min(start + portion, ids.count)]).list
            for index in stride(from: 0, to: list.count - 2, by: 3) {
                candidates.append(Candidate(id: list[index], places: Int(list[index + 1]) ?? -1, line: list[index + 2]))
            }
        }
        return candidates
    }

    /// Walks the ready lists of these jobs once more, but no further than needed: most jobs are new, so they are at the
    /// end.
    private func lookAgain(for candidates: [Candidate]) async throws(BrokerError) -> [String] {
        var missing: [String] = []
        for (line, group) in Dictionary(grouping: candidates, by: \.line) {
            var left = Set(group.map(\.id))
            var position: String? = "0"
            while let from = position, !left.isEmpty {
                let page = try await step("ready_list", line, from, String(Self.page))
                left.subtract(page.halves.first)
                position = page.next
            }
            missing += left
        }
        return missing
    }

    private mutating func confirm(_ id: String) async throws(BrokerError) {
        take(try await step("confirm", id, try await due(of: id)))
    }

    /// Returns the due time of a job in milliseconds; only a repair needs it.
    private func due(of id: String) async throws(BrokerError) -> String {
        repair ? String(try await description(of: id)?.notBefore ?? 0) : "0"
    }

    private mutating func name(_ id: String) async throws(BrokerError) {
        take(try await step("nameless", id, repair ? try await description(of: id)?.name ?? "" : ""))
    }

    /// Parses a body, which scripts do not do.
    private func description(of id: String) async throws(BrokerError) -> OperationDescription? {
        guard let record = try await broker.inspect([id], on: queue).first, let record else { return nil }
        return try? JobEnvelope.read(stored: record.body).description
    }

    // MARK: Findings

    mutating func take(_ page: AuditPage) {
        for found in page.findings {
            let finding = Finding(
                kind: found.kind,
                queue: queue,
                subject: found.subject,
                message: FindingExplanations.text(of: found.kind),
                repaired: found.isRepaired
            )
            let others = reported[found.kind] ?? []
            // A page may be repeated, and a scan may return a member twice.
            if others.contains(where: { $0.subject == finding.subject }) { continue }
            if others.count < Self.mostReported {
                reported[found.kind, default: []].append(finding)
            } else {
                let (count, isRepaired) = unreported[found.kind] ?? (0, true)
                unreported[found.kind] = (count + 1, isRepaired && found.isRepaired)
            }
        }
    }

    private var findings: [Finding] {
        reported.sorted { $0.key < $1.key }.flatMap { kind, findings in
            let others = unreported[kind].map {
                Finding(
                    kind: kind,
                    queue: queue,
                    subject: "and \($0.count) more",
                    message: FindingExplanations.text(of: kind),
                    repaired: $0.isRepaired
                )
            }
            return findings + (others.map { [$0] } ?? [])
        }
    }
}
