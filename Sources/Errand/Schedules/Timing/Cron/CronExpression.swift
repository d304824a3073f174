/// The local times that a cron expression matches, without a zone.
struct CronExpression: Equatable {
    var sets: CronSets = CronSets()
    /// Whether it matches the last day of each month.
    var hasLastDay = false
    /// The fields that begin with a star.
    var starred: Set<CronField> = []

    /// Whether it matches every hour. Such an expression follows real time when clocks are changed; see
    /// `docs/schedules.md`.
    var isOfEveryHour: Bool { sets.hours.bits == 1 << 24 - 1 }

    /// Returns whether it matches a day. If the day of the month and the day of the week are both restricted, either
    /// of them suffices, as in Vixie's cron.
    func includes(_ day: CivilDay) -> Bool {
        guard sets.months.contains(day.month) else { return false }
        let byMonth = sets.days.contains(day.day) || hasLastDay && day.isLastOfMonth
        let byWeek = sets.weekdays.contains(day.weekday)
        let bothRestrict = !starred.contains(.dayOfMonth) && !starred.contains(.dayOfWeek)
        return bothRestrict ? byMonth || byWeek : byMonth && byWeek
    }

    /// Throws if the expression never matches, such as for the 30th of February.
    func checkThatItHappens() throws(ScheduleError) {
        // Every date of the calendar occurs within 400 years, and those of a valid expression much sooner.
        guard local(atOrAfter: 0) == nil else { return }
        throw CronParser.refusal("it never happens: none of its months has one of its days")
    }
}

/// The numbers of all fields.
struct CronSets: Equatable {
    var seconds = CronSet()
    var minutes = CronSet()
    var hours = CronSet()
    var days = CronSet()
    var months = CronSet()
    var weekdays = CronSet()

    subscript(field: CronField) -> CronSet? {
        get {
            switch field {
            case .second: seconds
            case .minute: minutes
            case .hour: hours
            case .dayOfMonth: days
            case .month: months
            case .dayOfWeek: weekdays
            }
        }
        set {
            let set = newValue ?? CronSet()
            switch field {
            case .second: seconds = set
            case .minute: minutes = set
            case .hour: hours = set
            case .dayOfMonth: days = set
            case .month: months = set
            case .dayOfWeek: weekdays = set
            }
        }
    }
}
