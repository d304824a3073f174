/// The broker's record of a schedule.
public struct ScheduleRecord: Sendable, Equatable {
    /// The schedule's name.
    public let name: String
    /// The stored definition; empty if there is none.
    public let definition: [UInt8]
    /// The decoded definition; `nil` if this version of Errand cannot read it, or there is none.
    public let schedule: Schedule?
    /// Why the definition cannot be read.
    public let problem: ScheduleError?
    /// The next tick, in milliseconds since 1970 UTC; `nil` if the schedule is paused, never ticks again, or its data
    /// is corrupt.
    public let nextTick: Int64?
    /// Whether the schedule is paused.
    public let isPaused: Bool
    /// The last tick that was pushed, in milliseconds since 1970 UTC.
    public let lastTick: Int64?
    /// The number of ticks that were pushed.
    public let pushed: Int
    /// The number of ticks that were skipped; at most 1,000 are counted at a time.
    public let missed: Int
    /// The revision of a schedule that was deleted; `nil` if it was not.
    public let deletedRevision: Int?

    /// When a program last declared the schedule after it was deleted.
    package let rejectedDeclaration: RejectedDeclaration?

    /// A rejected declaration of a deleted schedule.
    package struct RejectedDeclaration: Sendable, Equatable {
        /// The time, in milliseconds since 1970 UTC.
        package var at: Int64
        /// The path of the program's catalogue, if it declared the schedule.
        package var catalogue: String?

        /// Makes a record of a declaration.
        package init(at: Int64, catalogue: String?) {
            self.at = at
            self.catalogue = catalogue
        }
    }

    /// Whether the schedule needs a next tick: none is stored, although it is not paused.
    package var lacksTick: Bool { nextTick == nil && !isPaused }
    /// Whether only the revision of the deleted schedule is left.
    package var isDeleted: Bool { definition.isEmpty && deletedRevision != nil }

    /// Whether the definition may be readable for a newer program, or on a host with its time zone.
    package var mayBeReadElsewhere: Bool {
        problem.map { [.unsupportedVersion, .unknownTimeZone].contains($0.code) } ?? false
    }

    /// The digest that identifies this definition.
    package var digest: String { Schedule.digest(of: definition) }

    /// Makes a record from stored values.
    package init(
        name: String,
        definition: [UInt8],
        nextTick: Int64?,
        isPaused: Bool = false,
        lastTick: Int64? = nil,
        pushed: Int = 0,
        missed: Int = 0,
        deletedRevision: Int? = nil,
        rejectedDeclaration: RejectedDeclaration? = nil
    ) {
        self.name = name
        self.definition = definition
        self.nextTick = nextTick
        self.isPaused = isPaused
        self.lastTick = lastTick
        self.pushed = pushed
        self.missed = missed
        self.deletedRevision = deletedRevision
        self.rejectedDeclaration = rejectedDeclaration
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

/// The outcome of storing a schedule.
public enum ScheduleOutcome: Sendable, Equatable {
    /// The schedule is new.
    case created
    /// The schedule replaced another definition.
    case changed
    /// The same definition was already stored.
    case unchanged
    /// The stored schedule, or a deleted one of this name, has this revision, which is higher (or, if it was deleted or
    /// changed by hand, not lower). It stays unchanged.
    case outdated(storedRevision: Int)
}

/// Due schedules, and the broker's time.
public struct DueSchedules: Sendable {
    /// The broker's time, in milliseconds since 1970 UTC.
    public var now: Int64
    /// The schedules, earliest first.
    public var schedules: [ScheduleRecord]

    /// Makes a page of due schedules.
    public init(now: Int64, schedules: [ScheduleRecord]) {
        self.now = now
        self.schedules = schedules
    }
}

/// The outcome of a proposal.
public enum TickOutcome: Sendable, Equatable {
    /// The jobs were pushed, with a receipt for each.
    case pushed([Receipt])
    /// Another proposal was first, or the schedule was changed, paused or deleted: nothing was done.
    case behind
    /// A tick is not due yet by the broker's clock: nothing was done.
    case early
}
