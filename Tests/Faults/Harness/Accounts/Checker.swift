import Errand
import ErrandRedis

/// Compares the accounts with the ledger, like Jepsen's total-queue checker, and makes further checks.
struct Checker {
    let accounts: Accounts
    let ledger: LedgerFollower

    /// Unexpected runs: of jobs that were not pushed, with other arguments, or before their time.
    func unexpected(earlyBy tolerance: Int64 = 50) -> [String] {
        let entries = accounts.entries
        var found: [String] = []
        for line in ledger.lines {
            guard let entry = entries[line.id] else {
                found.append("\(line.id) ran, and nobody pushed it")
                continue
            }
            if line.what == "wrong" { found.append("\(line.id) ran with other arguments than were pushed") }
            if line.what == "begin", entry.due > 0, line.milliseconds < entry.due - tolerance {
                found.append("\(line.id) began \(entry.due - line.milliseconds) ms early")
            }
        }
        if ledger.unreadable > 0 { found.append("\(ledger.unreadable) lines of the ledger make no sense") }
        return found
    }

    /// Runs of a newer claim than the one whose report ended the job, and jobs that ended twice.
    ///
    /// Tokens grow with every claim, and a job has one claim at a time, so no clock and no order of lines is needed.
    /// Either the job was claimed after its end, or the end of an older claim was accepted although there was a newer
    /// one.
    var runsAfterTheEnd: [String] {
        let accepted = ledger.accepted
        var found = accepted.filter { $0.value.count > 1 }.map { "\($0.key) was over \($0.value.count) times" }
        for line in ledger.lines where line.what == "begin" {
            guard let end = accepted[line.id]?.min(), line.token > end else { continue }
            found.append("\(line.id) began with the token \(line.token), and was over with \(end)")
        }
        return found
    }

    /// Runs beyond the first of each job.
    var duplicates: Int { ledger.begun.values.reduce(0) { $0 + max($1 - 1, 0) } }

    /// Pairs of runs of one job at the same time, by the ledger's own order.
    var overlaps: [String] {
        var running: [String: Int] = [:]
        var found: Set<String> = []
        for line in ledger.lines {
            switch line.what {
            case "begin":
                running[line.id, default: 0] += 1
                if running[line.id, default: 0] > 1 { found.insert(line.id) }
            case "end": running[line.id, default: 0] -= 1
            default: break
            }
        }
        return found.sorted()
    }

    /// Tokens that were issued to more than one worker, or twice for one job.
    var reusedTokens: [UInt64] {
        var holders: [UInt64: Int32] = [:]
        var begun: [UInt64: Set<String>] = [:]
        var reused: Set<UInt64> = []
        for line in ledger.lines where line.what == "begin" {
            if holders[line.token, default: line.pid] != line.pid { reused.insert(line.token) }
            holders[line.token] = line.pid
            if !begun[line.token, default: []].insert(line.id).inserted { reused.insert(line.token) }
        }
        return reused.sorted()
    }

    /// The accepted jobs whose runs did not reach their end.
    var open: [String] {
        let ended = ledger.ended
        return accounts.accepted.filter { ended[$0] == nil }
    }

    /// A job that was accepted and neither reached its end nor ended visibly.
    struct Loss: CustomStringConvertible {
        let id: String
        let why: String

        var description: String { "\(id): \(why)" }
    }

    /// The fates of jobs according to a queue.
    struct Fates {
        /// The jobs that it has.
        var known: Set<String> = []
        /// The jobs that ended in another way than intended.
        var lost: [Loss] = []
        /// The unfinished jobs.
        var stuck: [String] = []
    }

    /// The states of accepted jobs whose runs did not reach their end.
    func fates(_ broker: RedisBroker, on queue: String, mayBeCancelled: Bool = false) async throws -> Fates {
        let entries = accounts.entries
        var fates = Fates()
        let ids = open
        for start in stride(from: 0, to: ids.count, by: 500) {
            let part = Array(ids[start..<min(start + 500, ids.count)])
            for (id, record) in zip(part, try await broker.inspect(part, on: queue)) {
                guard let record else { continue }
                fates.known.insert(id)
                if !record.state.hasEnded { fates.stuck.append("\(id): \(record.state.rawValue)") }
                guard entries[id]?.ends == true else { continue }
                if record.state == .dead {
                    let why = "dead, although it was to end: \(record.lastError ?? "")"
                    fates.lost.append(Loss(id: id, why: why))
                }
                if record.state == .finished {
                    fates.lost.append(Loss(id: id, why: "finished, it is said, but it never reached its end"))
                }
                if !mayBeCancelled, record.state == .cancelled || record.state == .deleted {
                    fates.lost.append(Loss(id: id, why: "\(record.state.rawValue), and nobody asked for that"))
                }
            }
        }
        return fates
    }
}
