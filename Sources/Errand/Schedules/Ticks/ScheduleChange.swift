/// What a broker does with a schedule that is put, depending on the stored one.
package enum ScheduleChange: Sendable, Equatable {
    /// Nothing is stored; this is the outcome.
    case nothing(ScheduleOutcome)
    /// The definition is stored with a next tick; if that is `nil`, the stored tick stays.
    case store(ScheduleOutcome, next: Int64?)

    /// Determines the change.
    ///
    /// - Throws: ``BrokerError/Code/refused`` if a newer version of Errand has stored the schedule, this host does not
    ///   have its time zone, or it never ticks again.
    package init(putting schedule: Schedule, over stored: ScheduleRecord, now: Int64) throws(BrokerError) {
        if stored.definition.isEmpty {
            if let deleted = stored.deletedRevision, schedule.revision <= deleted {
                self = .nothing(.outdated(storedRevision: deleted))
            } else {
                self = .store(.created, next: try Self.first(of: schedule, after: now))
            }
            return
        }
        guard let old = stored.schedule else {
            if let problem = stored.problem, stored.mayBeReadElsewhere { throw Self.kept(schedule, problem) }
            self = .store(.changed, next: try Self.first(of: schedule, after: now))
            return
        }
        self = try Self.replacing(old, by: schedule, in: stored, now: now)
    }

    private static func replacing(
        _ old: Schedule,
        by schedule: Schedule,
        in stored: ScheduleRecord,
        now: Int64
    ) throws(BrokerError) -> ScheduleChange {
        let isSame = old.from(schedule.origin) == schedule
        if schedule.revision < old.revision || !isSame && old.isKept(from: schedule) {
            return .nothing(.outdated(storedRevision: old.revision))
        }
        if isSame {
            let found = stored.lacksTick ? schedule.timing.next(after: stored.start(now: now)) : nil
            let isTaken = schedule.takesOver(from: old)
            return found != nil || isTaken ? .store(.unchanged, next: found) : .nothing(.unchanged)
        }
        if stored.isPaused || (old.timing == schedule.timing && !stored.lacksTick) {
            return .store(.changed, next: nil)
        }
        return .store(.changed, next: try first(of: schedule, after: stored.start(now: now)))
    }

    /// Returns the first tick after a time.
    package static func first(of schedule: Schedule, after time: Int64) throws(BrokerError) -> Int64 {
        if let tick = schedule.timing.next(after: time) { return tick }
        throw BrokerError(.refused, "schedule \"\(schedule.name)\" never ticks again: \(schedule.timing)")
    }

    private static func kept(_ schedule: Schedule, _ problem: ScheduleError) -> BrokerError {
        let reason =
            problem.code == .unsupportedVersion
            ? "was stored by a newer version of Errand and is kept; update this program"
            : "is left as it is, because this host cannot read it (\(problem)); install the time zone on this host"
        return BrokerError(
            .refused,
            "schedule \"\(schedule.name)\" of queue \"\(schedule.queue)\" \(reason), or delete the schedule first"
        )
    }
}

extension Schedule {
    /// Whether the schedule was changed by hand, which a program's definition of the same revision does not undo.
    fileprivate func isKept(from schedule: Schedule) -> Bool {
        origin.edited != nil && schedule.origin.edited == nil && schedule.revision == revision
    }

    /// Whether the same definition has another source now. A schedule that was changed by hand belongs to a program
    /// again once the program declares the same definition. Of the same change by hand, only whether the catalogue still
    /// has the schedule is updated.
    fileprivate func takesOver(from old: Schedule) -> Bool {
        let (edited, oldEdited) = (origin.edited, old.origin.edited)
        return old.origin != origin && (edited == nil || edited == oldEdited)
    }
}

extension ScheduleRecord {
    /// Returns the time after which a resumed or retimed schedule ticks: now, or its last tick if the broker's clock
    /// was set back a little. A last tick far ahead comes from a wrong clock and is ignored.
    package func start(now: Int64) -> Int64 {
        guard let lastTick, lastTick > now, lastTick - now <= CivilDay.seconds * 1000 else { return now }
        return lastTick
    }
}
