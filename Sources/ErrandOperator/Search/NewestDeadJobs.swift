package import Errand

/// A list of the dead jobs of several queues, newest first.
///
/// Each queue lists its own dead jobs newest first, so a page is a merge of the heads of these lists. It reads no more
/// than its limits permit, however many jobs are dead.
package struct NewestDeadJobs: Sendable {
    /// A page and the place where it ended.
    package struct Outcome: Sendable {
        /// The jobs that match.
        package var jobs: [JobSummary] = []
        /// The number of jobs examined.
        package var looked = 0
        /// The places that could not be read and were skipped.
        package var unreadable: [UnreadablePlace] = []
        /// The cursor to continue from; `nil` if everything was examined.
        package var next: NewestCursor?
    }

    private let broker: any ConsoleBroker
    private let queues: [String]
    private let filter: JobFilter

    /// Makes a list.
    package init(_ broker: any ConsoleBroker, in queues: [String], for filter: JobFilter = JobFilter()) {
        self.broker = broker
        self.queues = queues
        self.filter = filter
    }

    /// Reads one page.
    ///
    /// - Parameter cursor: The place to continue from; `nil` begins with the newest job.
    package func page(
        from cursor: NewestCursor? = nil,
        _ limits: JobSearch.Limits
    ) async throws(BrokerError) -> Outcome {
        var outcome = Outcome()
        let began = ContinuousClock.now
        var heads = try await open(at: cursor, limits, &outcome)
        while let index = Self.newest(of: heads) {
            if outcome.jobs.count >= limits.found || outcome.looked >= limits.looked { return outcome }
            let job = heads[index].jobs.removeFirst()
            outcome.looked += 1
            outcome.next = NewestCursor(behind: job)
            if filter.passes(job) { outcome.jobs.append(job) }
            guard heads[index].jobs.isEmpty else { continue }
            // Jobs that were read cost nothing more, so only further reading depends on the time.
            if heads[index].hasMore, limits.isOver(after: outcome.looked, since: began) { return outcome }
            try await refill(&heads, index, limits, &outcome)
        }
        outcome.next = nil
        return outcome
    }

    /// Reads the first jobs of every queue behind the cursor.
    private func open(
        at cursor: NewestCursor?,
        _ limits: JobSearch.Limits,
        _ outcome: inout Outcome
    ) async throws(BrokerError) -> [DeadHead] {
        let share = min(limits.looked, filter.isEmpty ? limits.found : limits.looked) / max(1, queues.count)
        let count = min(max(share, 10), JobSearch.pageSize)
        let read = try await queues.readingEach { [broker] queue async throws(BrokerError) -> DeadHead in
            var head = DeadHead(queue: queue, cursor: cursor)
            try await head.seek(on: broker)
            try await head.fill(on: broker, count: count)
            return head
        }
        outcome.unreadable = read.unreadable
        return read.values.map(\.value).filter { !$0.jobs.isEmpty }
    }

    private func refill(
        _ heads: inout [DeadHead],
        _ index: Int,
        _ limits: JobSearch.Limits,
        _ outcome: inout Outcome
    ) async throws(BrokerError) {
        let missing = filter.isEmpty ? limits.found - outcome.jobs.count : limits.looked - outcome.looked
        do throws(BrokerError) {
            try await heads[index].fill(on: broker, count: min(max(missing, 1), JobSearch.pageSize))
        } catch {
            guard error.isOfOnePlace else { throw error }
            let place = UnreadablePlace(queue: heads[index].queue, state: .dead, error: error)
            outcome.unreadable.append(place)
        }
        if heads[index].jobs.isEmpty { heads.remove(at: index) }
    }

    private static func newest(of heads: [DeadHead]) -> Int? {
        heads.indices.min { heads[$0].place.precedes(heads[$1].place) }
    }
}

/// The next dead jobs of one queue.
private struct DeadHead: Sendable {
    let queue: String
    private let cursor: NewestCursor?
    /// The jobs that were read and not taken yet, newest first.
    var jobs: ArraySlice<JobSummary> = []
    /// The position to read next; `nil` after the last.
    private var next: Int? = 0

    init(queue: String, cursor: NewestCursor?) { (self.queue, self.cursor) = (queue, cursor) }

    /// Whether there are jobs to read.
    var hasMore: Bool { next != nil }

    /// The place of the first job.
    var place: NewestCursor { jobs.first.map(NewestCursor.init(behind:)) ?? .end }

    /// Finds the first position behind the cursor by halving: a queue with 100,000 dead jobs takes 17 short reads.
    mutating func seek(on broker: any ConsoleBroker) async throws(BrokerError) {
        guard let cursor else { return }
        var (low, high) = (0, max(0, try await broker.status(of: queue).queue.dead))
        while low < high {
            let middle = low + (high - low) / 2
            let page = try await broker.jobs(in: .dead, on: queue, from: middle, count: 1)
            // An entry that is no job may be anywhere; too early a position only costs time.
            if let record = page.jobs.first, cursor.isBehind(JobSummary(record, in: queue)) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        next = low
    }

    /// Reads the next jobs until there is one behind the cursor, or none left.
    mutating func fill(on broker: any ConsoleBroker, count: Int) async throws(BrokerError) {
        while jobs.isEmpty, let from = next {
            let page = try await broker.jobs(in: .dead, on: queue, from: from, count: count)
            // A page whose next position is not behind this one would cause an endless loop.
            next = page.next.map { max($0, from + 1) }
            let all = page.jobs.map { JobSummary($0, in: queue) }
            jobs = all.drop { cursor?.isBehind($0) ?? false }
        }
    }
}

extension NewestCursor {
    /// A place behind all jobs.
    fileprivate static let end = NewestCursor(time: .min, queue: "", id: "")

    private init(time: Int64, queue: String, id: String) { (self.time, self.queue, self.id) = (time, queue, id) }
}
