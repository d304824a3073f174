package import Errand

/// Jobs that something is to be done with: exactly those that were counted and shown to whoever asked, however many come
/// or go meanwhile.
package struct JobSelection: Sendable {
    /// The ids, by queue.
    package private(set) var ids: [String: [String]] = [:]
    /// How many jobs they are.
    package private(set) var count = 0
    /// Whether none is missing that there was all the while; see ``JobSearch/someMayBeMissing``.
    package fileprivate(set) var isComplete = true
    /// What could not be looked through.
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

    /// Adds what a search found.
    package mutating func add(_ jobs: [JobSummary]) {
        for job in jobs { add(job.record.id, in: job.queue) }
    }

    /// Once: a job that moved while one looked comes by twice.
    private mutating func add(_ id: String, in queue: String) {
        guard known[queue, default: []].insert(id).inserted else { return }
        ids[queue, default: []].append(id)
        count += 1
    }
}

extension JobSearch {
    /// Looks through everything, a bounded part at a time, and again while jobs move on, and selects what passes.
    ///
    /// - Parameter progress: told after each part how many jobs this pass has looked at, and how many are selected.
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
