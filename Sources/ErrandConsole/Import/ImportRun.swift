import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The migration of jobs, key by key. Each job is pushed first and removed from the old key afterwards, so that an
/// interruption loses nothing.
struct ImportRun {
    /// The result for one key.
    struct Found {
        let place: ImportPlace
        var moved = 0
        var readable = 0
        var skipped = 0
        /// The first few reasons why jobs were not moved.
        var reasons: [String] = []
        /// The reason why the key could not be read, or only in part.
        var problem: BrokerError?
        /// The number of jobs for each destination queue.
        var destinations: [String: Int] = [:]
    }

    /// The results, also of a run that stopped in the middle.
    struct Report {
        /// The queues that accept no pushes, with the reasons.
        var blocked: [UnreadablePlace] = []
        /// The keys that contain jobs or cannot be read.
        var found: [Found] = []
        /// The reason why the run stopped.
        var failure: CommandFailure?

        /// The number of readable jobs for queues that accept no pushes.
        var blockedJobs: Int {
            let queues = Set(blocked.map(\.queue))
            return found.flatMap(\.destinations).filter { queues.contains($0.key) }.reduce(0) { $0 + $1.value }
        }
    }

    private static let page = 200

    let source: any ImportSource
    let redis: ForeignRedis
    let broker: RedisBroker
    /// The destination queue of all jobs; `nil` for queues with the same names.
    let queue: String?
    /// New names for operations.
    let renames: [String: String]
    /// Whether to migrate the jobs; `false` for a dry run.
    let commits: Bool

    func run() async -> Report {
        var report = Report()
        do {
            for place in try await source.places() {
                var found = Found(place: place, problem: place.problem)
                defer { if found.isWorthTelling { report.found.append(found) } }
                if place.problem == nil { try await look(into: place, &found) }
                if !commits { try await check(found.destinations.keys.sorted(), &report) }
            }
        } catch let error as BrokerError {
            report.failure = CommandFailure(error)
        } catch {
            report.failure = CommandFailure("\(error)", ExitStatus.badInput)
        }
        report.failure = report.failure ?? report.missingPermission
        return report
    }

    /// Checks the destination queues. A dry run pushes nothing and would otherwise miss that a queue accepts no jobs.
    private func check(_ queues: [String], _ report: inout Report) async throws(BrokerError) {
        for queue in queues where !report.blocked.contains(where: { $0.queue == queue }) {
            do throws(BrokerError) { try await broker.checkKeys(of: queue) } catch {
                guard error.isOfOnePlace else { throw error }
                report.blocked.append(UnreadablePlace(queue: queue, error: error))
            }
        }
    }

    /// Reads a key. One that cannot be read is reported and does not affect the others.
    private func look(into place: ImportPlace, _ found: inout Found) async throws {
        do { try await readAll(of: place, &found) } catch let error as BrokerError where error.isOfOnePlace {
            found.problem = try await explain(error, place)
        }
    }

    private func explain(_ error: BrokerError, _ place: ImportPlace) async throws(BrokerError) -> BrokerError {
        guard error.code == .refused else { return error }
        let (type, wanted) = (try await redis.type(of: place.key), place.isSorted ? "zset" : "list")
        if type == wanted || type == "none" { return error }
        return BrokerError(.refused, "it holds a \(type) where jobs would be in a \(wanted)")
    }

    private func readAll(of place: ImportPlace, _ found: inout Found) async throws {
        var offset = 0
        while true {
            let entries = try await place.entries(from: offset, count: Self.page, redis)
            if entries.isEmpty { return }
            var jobs: [Job] = []
            for entry in entries {
                do { jobs.append(Job(entry: entry, envelope: try await envelope(of: entry, in: place))) } catch {
                    if let error = error as? BrokerError, !error.isOfOnePlace { throw error }
                    found.skip("\(error)")
                }
            }
            found.readable += jobs.count
            for job in jobs { found.destinations[job.envelope.queue, default: 0] += 1 }
            let moved = commits ? try await move(jobs, place, &found) : 0
            // Jobs that were not moved stay, so skip them.
            offset += entries.count - moved
        }
    }

    private struct Job {
        let entry: ImportPlace.Entry
        let envelope: JobEnvelope
    }

    private func envelope(of entry: ImportPlace.Entry, in place: ImportPlace) async throws -> JobEnvelope {
        let description = try await source.description(of: entry, in: place)
        return try description.moved(to: queue, as: renames[description.operation]).makeEnvelope()
    }

    private func move(_ jobs: [Job], _ place: ImportPlace, _ found: inout Found) async throws -> Int {
        var removed = 0
        var outage: BrokerError?
        for (job, result) in zip(jobs, await Producer(broker: broker).pushEach(jobs.map(\.envelope))) {
            switch result {
            case .failure(let error):
                found.skip("not pushed: \(error.message)")
                if ![.full, .refused].contains(error.code) { outage = error }
            case .success(let receipt) where receipt.outcome == .unknown:
                found.skip("the broker did not confirm the job; run the command again")
            case .success(let receipt):
                do throws(BrokerError) {
                    if let outage { throw outage }
                    removed += try await takeOut(job, receipt, place, &found)
                } catch {
                    found.skip(
                        "pushed, but not removed from the old queue: run the command again, or it may run twice: \(error.message)"
                    )
                    if !error.isOfOnePlace { outage = error }
                }
            }
        }
        if let outage { throw outage }
        return removed
    }

    private func takeOut(
        _ job: Job,
        _ receipt: Receipt,
        _ place: ImportPlace,
        _ found: inout Found
    ) async throws(BrokerError) -> Int {
        guard try await place.remove(job.entry, redis) else {
            found.skip("\(receipt.id) was claimed by an old worker meanwhile: it may run twice")
            return 0
        }
        found.moved += 1
        do throws(BrokerError) { try await source.forget(job.entry, in: place) } catch {
            found.add("\(receipt.id) was moved, but its old data stays: \(error.message)")
        }
        return 1
    }
}

extension ImportRun.Report {
    /// The failure of the command if the user may read none of the keys; that is not a partial success.
    fileprivate var missingPermission: CommandFailure? {
        guard let first = found.first?.problem, found.allSatisfy({ $0.problem?.code == .notPermitted }) else {
            return nil
        }
        return CommandFailure(first)
    }
}

extension ImportRun.Found {
    fileprivate var isWorthTelling: Bool { readable + skipped > 0 || problem != nil }

    fileprivate mutating func skip(_ reason: String) {
        skipped += 1
        add(reason)
    }

    fileprivate mutating func add(_ reason: String) {
        if reasons.count < 3, !reasons.contains(reason) { reasons.append(reason) }
    }

    /// The result as JSON for programs.
    var json: JSONOutput {
        .object([
            ("key", .text(place.key)), ("queue", .text(place.queue)), ("stranded", .truth(place.isStranded)),
            ("readable", .count(readable)), ("moved", .count(moved)), ("skipped", .count(skipped)),
            ("reasons", .list(reasons.map(JSONOutput.text))), ("problem", .text(orNull: problem?.message)),
        ])
    }
}
