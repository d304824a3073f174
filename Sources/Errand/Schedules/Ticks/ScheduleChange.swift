/// What a broker does with a schedule that is put, decided from what it has stored.
package enum ScheduleChange: Sendable, Equatable {
    /// Nothing; this is the answer.
    case nothing(ScheduleOutcome)
    /// The definition is stored, with a next tick or, when it is `nil`, with the timetable as it is.
    case store(ScheduleOutcome, next: Int64?)

    /// Decides.
    ///
    /// - Throws: ``BrokerError/Code/refused`` when a newer version of Errand stored it, when this host does not have its
    ///   time zone, or when it never ticks again.
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
        let isSame = old.from(schedule.origin) == schedule
        if schedule.revision < old.revision || !isSame && old.isKept(from: schedule) {
            self = .nothing(.outdated(storedRevision: old.revision))
        } else if isSame {
            let found = stored.lacksTick ? schedule.timing.next(after: stored.start(now: now)) : nil
            // What a person has written is a program's once the program declares the same; and of one edit it is noted
            // whether the catalogue still has the schedule.
            let isProgram = schedule.origin.edited == nil
            let isSameEdit = schedule.origin.edited == old.origin.edited
            let changesHands = old.origin != schedule.origin && (isProgram || isSameEdit)
            self = found != nil || changesHands ? .store(.unchanged, next: found) : .nothing(.unchanged)
        } else if stored.isPaused || (old.timing == schedule.timing && !stored.lacksTick) {
            self = .store(.changed, next: nil)
        } else {
            self = .store(.changed, next: try Self.first(of: schedule, after: stored.start(now: now)))
        }
    }

    /// The first tick after a time.
    package static func first(of schedule: Schedule, after time: Int64) throws(BrokerError) -> Int64 {
        if let tick = schedule.timing.next(after: time) { return tick }
        throw BrokerError(.refused, "schedule \"\(schedule.name)\" never ticks again: \(schedule.timing)")
    }

    private static func kept(_ schedule: Schedule, _ problem: ScheduleError) -> BrokerError {
        let reason =
            problem.code == .unsupportedVersion
            ? "was stored by a newer version of Errand and is kept; update this program"
            : "is kept, because this host cannot read it (\(problem)); give this host the zone"
        return BrokerError(
            .refused,
            "schedule \"\(schedule.name)\" of queue \"\(schedule.queue)\" \(reason), or delete the schedule first"
        )
    }
}

extension Schedule {
    /// Whether a person has written it, and a program's definition of the same revision does not undo that.
    fileprivate func isKept(from schedule: Schedule) -> Bool {
        origin.edited != nil && schedule.origin.edited == nil && schedule.revision == revision
    }
}

extension ScheduleRecord {
    /// From when on a schedule ticks that is resumed or gets another timing: from now, or after its last tick where the
    /// broker's clock was set back a little. A last tick far ahead is one of a clock that was wrong.
    package func start(now: Int64) -> Int64 {
        guard let lastTick, lastTick > now, lastTick - now <= CivilDay.seconds * 1000 else { return now }
        return lastTick
    }
}
