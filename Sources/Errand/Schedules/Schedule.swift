/// A job that recurs: at each of its ticks one job is pushed, made from a template.
///
/// Each tick is pushed exactly once, however many workers serve the queue and whoever of them is killed; there is no
/// leader and no lock. `docs/schedules.md` says what happens to ticks that were missed, and when clocks are changed.
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
    /// What it is called in its queue: 1 to 128 characters of `A-Z a-z 0-9 _ . -`.
    public let name: String
    /// When it ticks.
    public let timing: ScheduleTiming
    /// What is pushed at each tick; its queue is the schedule's.
    public let template: OperationDescription
    /// What becomes of ticks that nobody pushed in time.
    public let catchUp: CatchUp
    /// What happens when the job of an earlier tick has not ended.
    public let overlap: Overlap
    /// The version of code that is deployed in versions, from 0: a definition never gives way to one of a lower
    /// revision.
    public let revision: Int

    /// Where the definition comes from: a program, unless it was read from a catalogue or a person wrote it.
    public internal(set) var origin = Origin.program

    /// The queue in which it lives and to which it pushes.
    public var queue: String { template.queue }

    /// What becomes of ticks that are more than 10 s late because no worker served the queue, or it was full. Younger
    /// ones are always pushed.
    public enum CatchUp: Sendable, Equatable {
        /// They are skipped.
        case none
        /// The newest of them is pushed, the others are skipped.
        case latest
        /// The newest of them, up to this many (1 to 1,000), are pushed in order; the others are skipped.
        case all(limit: Int)
    }

    /// What happens when the job of an earlier tick has not ended.
    public enum Overlap: String, Sendable, CaseIterable {
        /// What the template's own uniqueness says: nothing, unless it says something.
        case allow
        /// The new job is dropped.
        case skip
        /// The new job waits for the end of the one that runs, which is not stopped. At most one waits; others are
        /// dropped.
        case after
        /// The old job gives way: at once if it waits; if it runs, it is told to stop.
        case replace
    }

    /// Most missed ticks that are pushed.
    static let mostCaughtUp = 1000
    /// Most bytes of the path of a catalogue.
    static let mostCatalogueBytes = 4096
    /// The revisions that there are.
    static let revisions = 0...1_000_000_000_000
    /// Most bytes of a definition.
    static let mostBytes = 1_200_000

    /// Makes a schedule.
    ///
    /// - Parameters:
    ///   - name: 1 to 128 characters of `A-Z a-z 0-9 _ . -`, unique in the queue.
    ///   - timing: when it ticks.
    ///   - template: what is pushed, to its own queue. It has neither an id nor a time; with an overlap other than
    ///     `allow` no uniqueness policy either, and a name of the schedule's own unless it gives one.
    ///   - catchUp: what becomes of missed ticks.
    ///   - overlap: what happens when the job of an earlier tick has not ended.
    ///   - revision: 0 to 1,000,000,000,000; raise it with every version of code that changes the schedule.
    /// - Throws: ``ScheduleError`` naming what is wrong.
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
            throw ScheduleError(.invalid, "template", "has an id or a time; each tick gives its job its own")
        }
        guard overlap == .allow || (template.givenPolicy == nil && template.givenUniqueUntil == nil) else {
            throw ScheduleError(
                .invalid,
                "overlap",
                "\"\(overlap.rawValue)\" settles the uniqueness; leave \"unique\" and \"unique_until\" out of the template, or write allow"
            )
        }
        let text = encoded()
        guard text.count <= Self.mostBytes else {
            throw ScheduleError(.invalid, "template", "is too large: the schedule has \(text.count) bytes")
        }
        // In the definition the template is one level deeper than alone.
        var scanner = JSONScanner(template.encoded())
        do { _ = try scanner.value() } catch {
            throw ScheduleError(.invalid, "template", "its arguments are too deep for a schedule: \(error.message)")
        }
    }
}
