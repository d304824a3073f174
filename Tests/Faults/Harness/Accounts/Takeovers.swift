/// The times that jobs of killed workers waited until they began elsewhere.
struct Takeovers {
    /// The end of a worker that was killed.
    struct Kill: Sendable {
        let pid: Int32
        /// The time of the kill, in milliseconds since 1970.
        let milliseconds: Int64
    }

    /// Quarantined jobs wait to run alone; they were hit by at least this many kills.
    private static let suspectFrom = 3

    /// The waiting times in milliseconds of jobs that began again.
    let waits: [Int64]

    init(_ kills: [Kill], in ledger: LedgerFollower) {
        let lines = ledger.lines
        let cut = Self.cut(lines, kills, ledger.accepted).filter { $0.value.kills < Self.suspectFrom }
        var again: [String: [(token: UInt64, at: Int64)]] = [:]
        for line in lines where line.what == "begin" && cut[line.id] != nil {
            again[line.id, default: []].append((line.token, line.milliseconds))
        }
        var waits: [Int64] = []
        for (id, cut) in cut {
            for run in cut.runs {
                let later = (again[id] ?? []).filter { $0.token > run.token }
                if let begin = later.map({ $0.at }).min() { waits.append(max(begin - run.killed, 0)) }
            }
        }
        self.waits = waits
    }

    /// The longest of them; 0 if no run was interrupted.
    var longest: Int64 { waits.max() ?? 0 }

    /// A job that was hit by kills.
    private struct Cut {
        /// Its runs that did not reach their end, with the time of the kill.
        var runs: [(token: UInt64, killed: Int64)] = []
        /// The number of kills that hit it, also between its end and the acceptance of that.
        var kills = 0
    }

    private static func cut(
        _ lines: [LedgerFollower.Line],
        _ kills: [Kill],
        _ accepted: [String: [UInt64]]
    ) -> [String: Cut] {
        let killed = Dictionary(kills.map { ($0.pid, $0.milliseconds) }) { max($0, $1) }
        let theirs = lines.filter { killed[$0.pid] != nil }
        let ended = Set(theirs.filter { $0.what == "end" }.map { "\($0.id) \($0.token)" })
        var cut: [String: Cut] = [:]
        for line in theirs where line.what == "begin" && accepted[line.id]?.contains(line.token) != true {
            cut[line.id, default: Cut()].kills += 1
            guard let at = killed[line.pid], !ended.contains("\(line.id) \(line.token)") else { continue }
            cut[line.id, default: Cut()].runs.append((line.token, at))
        }
        return cut
    }
}

extension ScenarioContext {
    /// The README's guarantee: a killed worker's jobs are ready again within the lease and 5 s while another worker
    /// lives.
    func expectTakenOver(_ kills: [Takeovers.Kill], lease: Int = WorkerOptions().lease) {
        let takeovers = Takeovers(kills, in: ledger)
        note("\(takeovers.waits.count) runs were cut off; the longest began again after \(takeovers.longest) ms")
        expectInjection(!takeovers.waits.isEmpty, "no kill cut a run off")
        expectInTime(
            takeovers.longest <= lease + 5000,
            "a killed worker's job began again after \(takeovers.longest) ms only, with a lease of \(lease) ms"
        )
    }
}
