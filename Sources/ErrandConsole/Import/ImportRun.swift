import Errand
import ErrandCommandLine
import ErrandOperator

/// Moves jobs place by place: each is pushed first and taken out there afterwards, so that none is lost whenever it is stopped.
struct ImportRun {
    /// What was found in a place.
    struct Found {
        let place: ImportPlace
        var moved = 0
        var readable = 0
        var skipped = 0
        /// The first few reasons why jobs stay where they are.
        var reasons: [String] = []
    }

    private static let page = 200

    let source: any ImportSource
    let redis: ForeignRedis
    let producer: Producer
    /// The queue for all of them, instead of one of the same name as there.
    let queue: String?
    /// New names for operations.
    let renames: [String: String]
    /// Whether to move them, or just to look.
    let commits: Bool

    func run() async throws -> [Found] {
        var all: [Found] = []
        for place in try await source.places() {
            let found = try await look(into: place)
            if found.readable + found.skipped > 0 { all.append(found) }
        }
        return all
    }

    private func look(into place: ImportPlace) async throws -> Found {
        var found = Found(place: place)
        var offset = 0
        while true {
            let entries = try await place.entries(from: offset, count: Self.page, redis)
            if entries.isEmpty { return found }
            var jobs: [(entry: ImportPlace.Entry, description: OperationDescription)] = []
            for entry in entries {
                do { jobs.append((entry, settled(try await source.description(of: entry, in: place)))) } catch {
                    if let error = error as? BrokerError { throw error }
                    found.skip("\(error)")
                }
            }
            found.readable += jobs.count
            let moved = commits ? try await move(jobs, place, &found) : 0
            // What stays there is behind us.
            offset += entries.count - moved
        }
    }

    private func settled(_ description: OperationDescription) -> OperationDescription {
        description.moved(to: queue, as: renames[description.operation])
    }

    private func move(
        _ jobs: [(entry: ImportPlace.Entry, description: OperationDescription)],
        _ place: ImportPlace,
        _ found: inout Found
    ) async throws -> Int {
        guard !jobs.isEmpty else { return 0 }
        let receipts = try await producer.push(contentsOf: jobs.map(\.description))
        var removed = 0
        for (job, receipt) in zip(jobs, receipts) {
            guard receipt.outcome != .unknown else {
                found.skip("the broker did not confirm the job; run the command again")
                continue
            }
            guard try await place.remove(job.entry, redis) else {
                found.skip("\(receipt.id) was taken by an old worker meanwhile: it may run twice")
                continue
            }
            removed += 1
            found.moved += 1
            try await source.forget(job.entry, in: place)
        }
        return removed
    }
}

extension ImportRun.Found {
    fileprivate mutating func skip(_ reason: String) {
        skipped += 1
        if reasons.count < 3, !reasons.contains(reason) { reasons.append(reason) }
    }

    /// What was found as programs read it.
    var json: JSONOutput {
        .object([
            ("key", .text(place.key)), ("queue", .text(place.queue)), ("stranded", .truth(place.isStranded)),
            ("readable", .count(readable)), ("moved", .count(moved)), ("skipped", .count(skipped)),
            ("reasons", .list(reasons.map(JSONOutput.text))),
        ])
    }
}
