package import Errand

/// Looks through the jobs of queues and states, in their order, for those that pass a filter.
///
/// A queue may hold millions of jobs, and nobody wants to wait for all of them, nor should a broker be asked for them all
/// at once. So a search reads page by page, stops when it has found enough, looked at enough or taken long enough, and says
/// how far it came; the next one goes on from there.
package struct JobSearch: Sendable {
    /// What is listed when no state is asked for: every job that has not ended, and the dead ones.
    package static let unfinished: [JobState] = [.running, .ready, .scheduled, .retrying, .deferred, .dead]

    /// When a search stops.
    package struct Limits: Sendable {
        /// Jobs found.
        package var found: Int
        /// Jobs looked at.
        package var looked: Int
        /// Time taken, ten times as much while fewer than 500 jobs were looked at, and 25 times while none was: a few are never left out
        /// because a machine is busy. At least one page is read.
        package var time: Duration

        /// Makes limits.
        package init(found: Int, looked: Int = 20_000, time: Duration = .milliseconds(200)) {
            self.found = max(1, found)
            self.looked = max(1, looked)
            self.time = time
        }
    }

    /// What a search found, and how far it came.
    package struct Outcome: Sendable {
        /// The jobs that pass.
        package var jobs: [JobSummary] = []
        /// How many were looked at.
        package var looked = 0
        /// What could not be looked at, and was passed over.
        package var unreadable: [UnreadablePlace] = []
        /// Where to go on; `nil` when everything was looked at.
        package var next: SearchCursor?
    }

    /// So many that a page takes the server a few milliseconds at the most: others wait for it.
    static let pageSize = 250
    /// So few that they are looked at even when the machine is busy.
    private static let few = 500

    private let broker: any ConsoleBroker
    private let queues: [String]
    private let places: [(queue: String, state: JobState)]
    private let filter: JobFilter

    /// Makes a search.
    ///
    /// - Parameters:
    ///   - queues: where to look, in this order.
    ///   - states: which states to look at in each queue, in this order; none means ``unfinished``.
    package init(
        _ broker: any ConsoleBroker,
        in queues: [String],
        _ states: [JobState] = [],
        for filter: JobFilter = JobFilter()
    ) {
        self.broker = broker
        self.queues = queues
        let asked = states.isEmpty ? Self.unfinished : states
        // What waits or has ended is no worker's, so it is not looked through for one's jobs.
        let looked = filter.worker == nil ? asked : asked.filter { $0 == .running }
        places = queues.flatMap { queue in looked.map { (queue, $0) } }
        self.filter = filter
    }

    /// Whether jobs leave the states that are looked at by themselves, so that those behind them move up.
    var looksAtMovingJobs: Bool { places.contains { !$0.state.hasEnded } }

    /// Whether it reads one state of one queue: jobs move from one to the other between two readings.
    var isOnePlace: Bool { places.count == 1 }

    /// Looks for jobs.
    ///
    /// - Parameter cursor: where to go on; `nil` begins anew. One of another search begins where that place would be.
    package func run(from cursor: SearchCursor? = nil, _ limits: Limits) async throws(BrokerError) -> Outcome {
        var outcome = Outcome(next: begin(at: cursor))
        let began = ContinuousClock.now
        while let place = outcome.next, outcome.jobs.count < limits.found, outcome.looked < limits.looked {
            try await readOrPass(place, limits, &outcome)
            // Places without jobs take little time, but there may be thousands of them.
            let patience = outcome.looked == 0 ? 25 : outcome.looked < Self.few ? 10 : 1
            if ContinuousClock.now >= began + limits.time * patience { break }
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

    /// A place that cannot be read is no reason to leave the others.
    private func readOrPass(
        _ place: SearchCursor,
        _ limits: Limits,
        _ outcome: inout Outcome
    ) async throws(BrokerError) {
        do throws(BrokerError) { try await readPage(at: place, limits, &outcome) } catch {
            guard error.isOfOnePlace else { throw error }
            outcome.unreadable.append(UnreadablePlace(queue: place.queue, state: place.state, error: error))
            outcome.next = after(place)
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
        // Where a page says that the next begins before this one, going on would go on for ever.
        let next = page.next.map { max($0, place.position + 1) }
        outcome.looked += next.map { $0 - place.position } ?? page.jobs.count
        outcome.next = next.map { SearchCursor(queue: place.queue, state: place.state, position: $0) } ?? after(place)
    }

    private func after(_ place: SearchCursor) -> SearchCursor? {
        guard let index = index(of: place), index + 1 < places.count else { return nil }
        return SearchCursor(queue: places[index + 1].queue, state: places[index + 1].state, position: 0)
    }
}

extension JobSearch {
    /// How much there is to look at, and how much of it lies before a cursor.
    ///
    /// Nobody counts the jobs that have ended and are kept: where they are among the states, the total is `nil`, and
    /// likewise where a queue cannot be read.
    package func extent(upTo cursor: SearchCursor) async throws(BrokerError) -> (before: Int, total: Int?) {
        var (before, total, isBefore) = (0, Int?(0), true)
        let read = try await queues.readingEach { [broker] queue throws(BrokerError) in
            try await broker.status(of: queue).queue
        }
        let statuses = Dictionary(read.values.map { ($0.queue, $0.value) }) { $1 }
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
    /// How many jobs are in a state; `nil` for the states of jobs that have ended and are kept.
    package func count(of state: JobState) -> Int? {
        switch state {
        case .ready: ready
        case .scheduled: scheduled
        case .running: running
        case .retrying: retrying
        case .dead: dead
        case .deferred: deferred
        case .finished, .cancelled, .replaced, .deleted: nil
        }
    }
}
