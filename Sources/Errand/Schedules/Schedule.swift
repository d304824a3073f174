/// A recurring job: at each tick, one job is pushed that is made from a template.
///
/// Each tick is pushed at most once, however many workers serve the queue and whichever of them are killed; there is no
/// leader and no lock. `docs/schedules.md` describes missed ticks and changes of clocks.
///
/// ```swift
/// let report = try Schedule(
///     "nightly-report",
///     .cron("30 2 * * *", timeZone: "Europe/Berlin"),
///     pushing: OperationDescription("report", queue: "reports"),
///     overlap: .skip
/// )
/// let worker = Worker(broker: broker, operations: operations, schedules: [report], logger: logger)
/// ```
public struct Schedule: Sendable, Equatable {
    /// The schedule's name in its queue: 1 to 128 characters of `A-Z a-z 0-9 _ . -`.
    public let name: String
    /// When the schedule ticks.
    public let timing: ScheduleTiming
    /// The job to push at each tick. Its queue is the schedule's.
    public let template: OperationDescription
    /// What to do about ticks that were not pushed in time.
    public let catchUp: CatchUp
    /// What to do if the job of an earlier tick has not ended.
    public let overlap: Overlap
    /// The revision of the definition, from 0, for code that is deployed in versions: a definition is never replaced by
    /// one of a lower revision.
    public let revision: Int

    /// The source of the definition: a program, unless it was read from a catalogue or changed by hand.
    public internal(set) var origin = Origin.program

    /// The queue of the schedule, to which it pushes its jobs.
    public var queue: String { template.queue }

    /// What to do about ticks that are more than 10 s late, because no worker served the queue or it was full. Others
    /// are always pushed.
    public enum CatchUp: Sendable, Equatable {
        /// The ticks are skipped.
        case none
        /// The newest tick is pushed, the others are skipped.
        case latest
        /// The newest ticks, up to this limit (1 to 1,000), are pushed in order; the others are skipped.
        case all(limit: Int)
    }

    /// What to do if the job of an earlier tick has not ended.
    public enum Overlap: String, Sendable, CaseIterable {
        /// The template's own uniqueness applies, if it has one.
        case allow
        /// The new job is dropped.
        case skip
        /// The new job waits for the end of the running one, which is not stopped. At most one job waits; others are
        /// dropped.
        case after
        /// The new job replaces the old one: immediately if that is waiting; a running one is asked to stop.
        case replace
    }

    /// The maximum number of missed ticks that are pushed.
    static let mostCaughtUp = 1000
    /// The maximum length of a catalogue's path in bytes.
    static let mostCatalogueBytes = 4096
    /// The range of revisions.
    static let revisions = 0...1_000_000_000_000
    /// The maximum size of a definition in bytes.
    static let mostBytes = 1_200_000

    /// Makes a schedule.
    ///
    /// - Parameters:
    ///   - name: 1 to 128 characters of `A-Z a-z 0-9 _ . -`, unique in the queue.
    ///   - timing: when the schedule ticks.
    ///   - template: the job to push, to its own queue. It must have neither an id nor a time. With an overlap other
    ///     than `allow` it must have no uniqueness policy either; its name then comes from the schedule unless it has
    ///     one.
    ///   - catchUp: what to do about missed ticks.
    ///   - overlap: what to do if the job of an earlier tick has not ended.
    ///   - revision: 0 to 1,000,000,000,000; raise it with every version of the code that changes the schedule.
    /// - Throws: ``ScheduleError`` that states what is invalid.
    public init(
        _ name: String,
        _ timing: ScheduleTiming,
        pushing template: OperationDescription,
        catchUp: CatchUp = .latest,
        overlap: Overlap = .allow,
        revision: Int = 0
    ) throws(ScheduleError) {
        self.name = name
        self.timing = timing
        self.catchUp = catchUp
        self.overlap = overlap
        self.revision = revision
        var template = template
        template.givenQueue = template.queue
        self.template = template
        try validate()
    }
}

extension Schedule {
    private func validate() throws(ScheduleError) {
        guard DescriptionRules.isToken(name.utf8) else {
            throw ScheduleError(.invalid, "name", "must be 1 to 128 characters, each one of A-Z a-z 0-9 _ . -")
        }
        guard Self.revisions.contains(revision) else {
            throw ScheduleError(.invalid, "revision", "must be a whole number from 0 to \(Self.revisions.upperBound)")
        }
        if case .all(let limit) = catchUp, !(1...Self.mostCaughtUp).contains(limit) {
            throw ScheduleError(.invalid, "catch_up_limit", "must be a whole number from 1 to \(Self.mostCaughtUp)")
        }
        try validateTemplate()
    }

    private func validateTemplate() throws(ScheduleError) {
        guard template.id == nil, template.notBefore == nil else {
            throw ScheduleError(
                .invalid,
                "template",
                "must have neither an id nor a time: each tick gives its job its own; leave them out"
            )
        }
        guard overlap == .allow || (template.givenPolicy == nil && template.givenUniqueUntil == nil) else {
            throw ScheduleError(
                .invalid,
                "overlap",
                "\"\(overlap.rawValue)\" already decides what happens to a second job; leave \"unique\" and \"unique_until\" out, "
                    + "or use the overlap \"allow\""
            )
        }
        // What a producer refuses at a push would fail at every tick.
        do { _ = try job(id: "tick", tick: nil) } catch {
            throw ScheduleError(.invalid, "template", "cannot be pushed: \(error)")
        }
        let text = encoded()
        guard text.count <= Self.mostBytes else {
            throw ScheduleError(
                .invalid,
                "template",
                "is too large: the schedule has \(text.count) bytes, and at most \(Self.mostBytes) are allowed; \(Self.shorter)"
            )
        }
        // In the definition, the template is nested one level deeper.
        var scanner = JSONScanner(template.encoded())
        do { _ = try scanner.value() } catch {
            throw ScheduleError(
                .invalid,
                "template",
                "its arguments may be at most \(DescriptionLimits.depth - 1) levels deep in a schedule; flatten them"
            )
        }
    }

    /// What to do about a definition that is too long.
    static let shorter = "pass a reference instead of large arguments"
}
