/// The jobs that a worker proposes to push for one schedule. The broker accepts only the first proposal for a tick.
public struct TickProposal: Sendable {
    /// The schedule's name.
    public let schedule: String
    /// The digest of the definition that the jobs were made from.
    package let digest: String
    /// The next tick as the worker read it; `nil` to push by hand, which does not change the ticks.
    public let expected: Int64?
    /// The ticks to push, ascending.
    public let ticks: [Int64]
    /// The next tick after now; `nil` if there is none.
    public let next: Int64?
    /// The number of skipped ticks.
    public let missed: Int
    /// Whether the jobs wait for a run that has their unique name.
    package let waits: Bool
    /// One job for each tick.
    public let jobs: [JobEnvelope]

    package init(
        schedule: String,
        digest: String,
        expected: Int64?,
        ticks: [Int64],
        next: Int64?,
        missed: Int,
        waits: Bool,
        jobs: [JobEnvelope]
    ) {
        self.schedule = schedule
        self.digest = digest
        self.expected = expected
        self.ticks = ticks
        self.next = next
        self.missed = missed
        self.waits = waits
        self.jobs = jobs
    }

    /// The maximum size of a proposal's jobs in bytes, unless it has only one.
    private static let mostBytes = 8 << 20
    /// The maximum number of jobs in a proposal.
    package static let mostJobs = 1000
}

extension TickProposal {
    /// Makes the proposal for a due schedule.
    ///
    /// - Throws: ``DescriptionError`` if the template, with the data of a tick, is too large for a job.
    package init(_ record: ScheduleRecord, _ schedule: Schedule, now: Int64) throws(DescriptionError) {
        let expected = record.nextTick ?? 0
        let plan = schedule.plan(expected: expected, now: now)
        let jobs = try plan.ticks.map { tick throws(DescriptionError) in
            try schedule.job(id: schedule.id(ofTick: tick), tick: tick)
        }
        let whole = TickProposal(
            schedule: record.name,
            digest: record.digest,
            expected: expected,
            ticks: plan.ticks,
            next: plan.next,
            missed: plan.missed,
            waits: schedule.overlap == .after,
            jobs: jobs
        )
        let fitting = max(1, Self.mostBytes / max(jobs.first?.bytes.count ?? 1, 1))
        self = whole.limited(to: min(fitting, Self.mostJobs))
    }

    /// Makes a proposal to push one job by hand.
    package init(byHand record: ScheduleRecord, _ schedule: Schedule) throws(DescriptionError) {
        self.init(
            schedule: record.name,
            digest: record.digest,
            expected: nil,
            ticks: [],
            next: nil,
            missed: 0,
            waits: schedule.overlap == .after,
            jobs: [try schedule.job(id: JobIDGenerator.next(), tick: nil)]
        )
    }

    /// Returns the proposal with only its first ticks; the others stay due.
    package func limited(to most: Int) -> TickProposal {
        guard ticks.count > most, most > 0 else { return self }
        return TickProposal(
            schedule: schedule,
            digest: digest,
            expected: expected,
            ticks: Array(ticks.prefix(most)),
            next: ticks[most],
            missed: missed,
            waits: waits,
            jobs: Array(jobs.prefix(most))
        )
    }
}
