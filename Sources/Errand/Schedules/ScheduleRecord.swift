/// What the broker knows of a schedule.
public struct ScheduleRecord: Sendable, Equatable {
    /// The schedule's name.
    public let name: String
    /// The definition as it is stored; empty when there is none.
    public let definition: [UInt8]
    /// The definition read; `nil` when this version of Errand cannot read it, or there is none.
    public let schedule: Schedule?
    /// Why the definition cannot be read.
    public let problem: ScheduleError?
    /// The tick that is pushed next, in milliseconds since 1970 UTC; `nil` while the schedule is paused, when it never
    /// ticks again, and when the broker's data is broken.
    public let nextTick: Int64?
    /// Whether it does not tick until it is resumed.
    public let isPaused: Bool
    /// The last tick that was pushed.
    public let lastTick: Int64?
    /// How many ticks were pushed.
    public let pushed: Int
    /// How many ticks were missed and not caught up with; at most 1,000 are counted at a time.
    public let missed: Int
    /// The revision that a deleted schedule of this name had, when it is deleted.
    public let deletedRevision: Int?

    /// When a program last declared the schedule although it is deleted.
    package let deletionMet: DeletionMet?

    /// A program that declares a deleted schedule, and is refused.
    package struct DeletionMet: Sendable, Equatable {
        /// When, in milliseconds since 1970 UTC.
        package var at: Int64
        /// The path of its catalogue, if it read one.
        package var catalogue: String?

        /// Makes one.
        package init(at: Int64, catalogue: String?) {
            self.at = at
            self.catalogue = catalogue
        }
    }

    /// Whether a tick has to be found for it: none is stored, though nobody has paused it.
    package var lacksTick: Bool { nextTick == nil && !isPaused }
    /// Whether there is nothing of it but the revision it had when it was deleted.
    package var isDeleted: Bool { definition.isEmpty && deletedRevision != nil }

    /// Whether the definition cannot be read here, but perhaps by a newer program, or on a host that has its time zone.
    package var mayBeReadElsewhere: Bool {
        problem.map { [.unsupportedVersion, .unknownTimeZone].contains($0.code) } ?? false
    }

    /// What tells this definition from another.
    package var digest: String { Schedule.digest(of: definition) }

    /// Makes a record of what is stored.
    package init(
        name: String,
        definition: [UInt8],
        nextTick: Int64?,
        isPaused: Bool = false,
        lastTick: Int64? = nil,
        pushed: Int = 0,
        missed: Int = 0,
        deletedRevision: Int? = nil,
        deletionMet: DeletionMet? = nil
    ) {
        self.name = name
        self.definition = definition
        self.nextTick = nextTick
        self.isPaused = isPaused
        self.lastTick = lastTick
        self.pushed = pushed
        self.missed = missed
        self.deletedRevision = deletedRevision
        self.deletionMet = deletionMet
        guard !definition.isEmpty else {
            (schedule, problem) = (nil, nil)
            return
        }
        do throws(ScheduleError) {
            (schedule, problem) = (try Schedule(json: definition), nil)
        } catch {
            (schedule, problem) = (nil, error)
        }
    }
}

/// What became of a schedule that was to be stored.
public enum ScheduleOutcome: Sendable, Equatable {
    /// It is new.
    case created
    /// It took the place of another definition.
    case changed
    /// This very definition was stored already.
    case unchanged
    /// The stored one, or a deleted one of this name, has this revision, which is higher (or, of one that a person has
    /// deleted or changed, not lower): it stays as it is.
    case outdated(storedRevision: Int)
}

/// Schedules whose tick has come, and the broker's time.
public struct DueSchedules: Sendable {
    /// The broker's time, in milliseconds since 1970 UTC.
    public var now: Int64
    /// The schedules, earliest first.
    public var schedules: [ScheduleRecord]

    /// Makes an answer.
    public init(now: Int64, schedules: [ScheduleRecord]) {
        self.now = now
        self.schedules = schedules
    }
}

/// What became of a proposal.
public enum TickOutcome: Sendable, Equatable {
    /// The jobs were pushed; a receipt for each.
    case pushed([Receipt])
    /// Somebody else was first, or the schedule was changed, paused or deleted: nothing was done.
    case behind
    /// A tick's time has not come by the broker's clock: nothing was done.
    case early
}
