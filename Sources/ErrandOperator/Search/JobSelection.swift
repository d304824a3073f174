package import Errand

/// The jobs of a bulk action: exactly those that were counted and shown to the operator, regardless of later changes.
package struct JobSelection: Sendable {
    /// The ids by queue.
    package private(set) var ids: [String: [String]] = [:]
    /// The number of jobs.
    package private(set) var count = 0
    /// Whether the selection has all jobs that existed during the whole search; see ``JobSearch/someMayBeMissing``.
    package fileprivate(set) var isComplete = true
    /// The parts that could not be searched.
    package fileprivate(set) var unreadable: [UnreadablePlace] = []
    private var known: [String: Set<String>] = [:]

    /// Makes an empty selection.
    package init() {}

    /// Makes a selection of jobs of one queue.
    package init(of ids: [String], in queue: String) { add(ids, in: queue) }

    /// Adds jobs of a queue.
    package mutating func add(_ ids: [String], in queue: String) {
        for id in ids { add(id, in: queue) }
    }

    /// Adds the jobs that a search found.
    package mutating func add(_ jobs: [JobSummary]) {
        for job in jobs { add(job.record.id, in: job.queue) }
    }

    /// Adds a job once: a search may find a job twice if it moves.
    private mutating func add(_ id: String, in queue: String) {
        guard known[queue, default: []].insert(id).inserted else { return }
        ids[queue, default: []].append(id)
        count += 1
    }
}

extension JobSearch {
    /// Searches everything in bounded parts, repeats that while jobs move, and selects the jobs that match.
    ///
    /// - Parameter progress: Called after each part with the number of jobs that this pass has examined, and the number
    ///   selected.
    package func selectAll(
        progress: (_ looked: Int, _ found: Int) -> Void = { _, _ in }
    ) async throws(BrokerError) -> JobSelection {
        var selection = JobSelection()
        let part = Limits(found: 5000, looked: 5000, time: .seconds(1))
        let completeness = try await runAll(by: part) { found, looked in
            let before = selection.count
            selection.add(found)
            progress(looked, selection.count)
            return selection.count - before
        }
        (selection.isComplete, selection.unreadable) = (completeness.isComplete, completeness.unreadable)
        return selection
    }
}
