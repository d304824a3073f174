package import Errand

/// A search through the jobs of queues and states, in their order, for those that match a filter.
///
/// A queue may hold millions of jobs. So a search reads page by page, stops when it has found enough, examined enough
/// or taken long enough, and returns a cursor from which the next search continues.
package struct JobSearch: Sendable {
    /// The default states: those of all jobs that have not ended, and `dead`.
    package static let unfinished: [JobState] = [.running, .ready, .scheduled, .retrying, .deferred, .blocked, .dead]

    /// The limits at which a search stops.
    package struct Limits: Sendable {
        /// The number of jobs to find.
        package var found: Int
        /// The number of jobs to examine.
        package var looked: Int
        /// The time to take: ten times as long while fewer than 500 jobs were examined, and 25 times while none was, so
        /// that a busy machine does not hide a few jobs. At least one page is read.
        package var time: Duration

        /// Makes limits. Both numbers are at least 1.
        package init(found: Int, looked: Int = 20_000, time: Duration = .milliseconds(200)) {
            self.found = max(1, found)
            self.looked = max(1, looked)
            self.time = time
        }

        /// Returns whether a search has taken long enough.
        func isOver(after looked: Int, since began: ContinuousClock.Instant) -> Bool {
            // Places without jobs take little time, but there may be thousands of them.
            let patience = looked == 0 ? 25 : looked < JobSearch.few ? 10 : 1
            return ContinuousClock.now >= began + time * patience
        }
    }

    /// The result of a search and the place where it stopped.
    package struct Outcome: Sendable {
        /// The jobs that match.
        package var jobs: [JobSummary] = []
        /// The number of jobs examined.
        package var looked = 0
        /// The places that could not be read and were skipped.
        package var unreadable: [UnreadablePlace] = []
        /// The cursor to continue from; `nil` if everything was examined.
        package var next: SearchCursor?
    }

    /// The number of jobs that costs the server at most a few milliseconds, during which other clients wait.
    static let pageSize = 250
    /// The number of jobs that a search examines even on a busy machine.
    fileprivate static let few = 500

    private let broker: any ConsoleBroker
    private let queues: [String]
    private let places: [(queue: String, state: JobState)]
    private let filter: JobFilter

    /// Makes a search.
    ///
    /// - Parameters:
    ///   - queues: The queues to search, in this order.
    ///   - states: The states to search in each queue, in this order; empty for ``unfinished``.
    package init(
        _ broker: any ConsoleBroker,
        in queues: [String],
        _ states: [JobState] = [],
        for filter: JobFilter = JobFilter()
    ) {
        self.broker = broker
        self.queues = queues
        let asked = states.isEmpty ? Self.unfinished : states
        // Only running jobs belong to a worker.
        let looked = filter.worker == nil ? asked : asked.filter { $0 == .running }
        places = queues.flatMap { queue in looked.map { (queue, $0) } }
        self.filter = filter
    }

    /// Whether jobs leave the searched states by themselves, so that those behind them move up.
    var looksAtMovingJobs: Bool { places.contains { !$0.state.hasEnded } }

    /// Whether the search reads one state of one queue; between several, jobs can move from one reading to the next.
    var isOnePlace: Bool { places.count == 1 }

    /// Searches for jobs.
    ///
    /// - Parameter cursor: The place to continue from; `nil` starts at the beginning, as does a cursor whose queue or
    ///   state is not searched.
    package func run(from cursor: SearchCursor? = nil, _ limits: Limits) async throws(BrokerError) -> Outcome {
        var outcome = Outcome(next: begin(at: cursor))
        var began = ContinuousClock.now
        while let place = outcome.next, outcome.jobs.count < limits.found, outcome.looked < limits.looked {
            let (asked, passed) = (ContinuousClock.now, outcome.unreadable.count)
            try await readOrPass(place, limits, &outcome)
            // The wait for a queue that cannot be served is not the search's time.
            if outcome.unreadable.count > passed { began += .now - asked }
            if limits.isOver(after: outcome.looked, since: began) { break }
        }
        return outcome
    }

    private func begin(at cursor: SearchCursor?) -> SearchCursor? {
        guard let cursor else {
            return places.first.map { SearchCursor(queue: $0.queue, state: $0.state, position: 0) }
        }
        return index(of: cursor) == nil ? begin(at: nil) : cursor
    }

    private func index(of cursor: SearchCursor) -> Int? {
        places.firstIndex { $0.queue == cursor.queue && $0.state == cursor.state }
    }

    /// Reads a page. A place that cannot be read is skipped, so that the others are still searched.
    private func readOrPass(
        _ place: SearchCursor,
        _ limits: Limits,
        _ outcome: inout Outcome
    ) async throws(BrokerError) {
        do throws(BrokerError) { try await readPage(at: place, limits, &outcome) } catch {
            guard error.isOfOnePlace else { throw error }
            let state = error.concernsOneQueue ? nil : place.state
            outcome.unreadable.append(UnreadablePlace(queue: place.queue, state: state, error: error))
            outcome.next = error.concernsOneQueue ? after(queue: place.queue) : after(place)
        }
    }

    private func readPage(
        at place: SearchCursor,
        _ limits: Limits,
        _ outcome: inout Outcome
    ) async throws(BrokerError) {
        let missing = limits.found - outcome.jobs.count
        let count = min(filter.isEmpty ? missing : Self.pageSize, Self.pageSize, limits.looked - outcome.looked)
        let page = try await broker.jobs(in: place.state, on: place.queue, from: place.position, count: count)
        for (record, position) in zip(page.jobs, page.positions) {
            let job = JobSummary(record, in: place.queue)
            guard filter.passes(job) else { continue }
            guard outcome.jobs.count < limits.found else {
                outcome.looked += max(0, position - place.position)
                outcome.next = SearchCursor(queue: place.queue, state: place.state, position: position)
                return
            }
            outcome.jobs.append(job)
        }
        // A page whose next position is not behind this one would cause an endless loop.
        let next = page.next.map { max($0, place.position + 1) }
        outcome.looked += next.map { $0 - place.position } ?? page.jobs.count
        outcome.next = next.map { SearchCursor(queue: place.queue, state: place.state, position: $0) } ?? after(place)
    }

    private func after(_ place: SearchCursor) -> SearchCursor? {
        index(of: place).flatMap { cursor(at: $0 + 1) }
    }

    /// A queue that cannot be served is not asked again for each state.
    private func after(queue: String) -> SearchCursor? {
        places.lastIndex { $0.queue == queue }.flatMap { cursor(at: $0 + 1) }
    }

    private func cursor(at index: Int) -> SearchCursor? {
        guard places.indices.contains(index) else { return nil }
        return SearchCursor(queue: places[index].queue, state: places[index].state, position: 0)
    }
}

extension JobSearch {
    /// Returns the number of jobs to examine, and how many of them are before a cursor.
    ///
    /// The total is `nil` if the states include those of ended jobs, which are not counted, or if a queue cannot be
    /// read.
    package func extent(upTo cursor: SearchCursor) async throws(BrokerError) -> (before: Int, total: Int?) {
        let read = try await queues.readingEach { [broker] queue throws(BrokerError) in
            try await broker.status(of: queue).queue
        }
        return extent(upTo: cursor, in: read.values.map(\.value))
    }

    /// Returns the same from the present status of the queues.
    package func extent(upTo cursor: SearchCursor, in queues: [QueueStatus]) -> (before: Int, total: Int?) {
        var (before, total, isBefore) = (0, Int?(0), true)
        let statuses = Dictionary(queues.map { ($0.name, $0) }) { $1 }
        for place in places {
            let counted = statuses[place.queue]?.count(of: place.state)
            if place.queue == cursor.queue, place.state == cursor.state {
                before = before.addingReportingOverflow(min(cursor.position, counted ?? .max)).partialValue
                isBefore = false
            }
            if isBefore { before = before.addingReportingOverflow(counted ?? 0).partialValue }
            total = counted.flatMap { counted in total.map { $0.addingReportingOverflow(counted).partialValue } }
        }
        return (before, total)
    }
}

extension QueueStatus {
    /// Returns the number of jobs in a state; `nil` for the states of ended jobs.
    package func count(of state: JobState) -> Int? {
        switch state {
        case .ready: ready
        case .scheduled: scheduled
        case .running: running
        case .retrying: retrying
        case .dead: dead
        case .deferred: deferred
        case .blocked: blocked
        case .finished, .cancelled, .replaced, .expired, .skipped, .deleted: nil
        }
    }
}
