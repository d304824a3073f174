/// A time zone, which converts between local time and UTC. Times are whole seconds since 1970, in UTC or as the zone's
/// clocks show them.
struct ScheduleZone: Sendable, Equatable {
    let identifier: String
    /// The zone's clocks; `nil` for UTC, which needs no database.
    private let clocks: ZoneFile?

    /// The moments of a local time.
    enum Moment: Equatable {
        case once(Int64)
        /// The local time occurs twice, because the clocks were set back.
        case twice(first: Int64, second: Int64)
        /// The clocks were set forward past the local time, at this moment.
        case skipped(jump: Int64)
    }

    /// Makes a zone from a name of the system's time zone database, such as `Europe/Berlin`, or `UTC`.
    init(_ identifier: String, in database: ZoneDatabase = .system) throws(ScheduleError) {
        self.identifier = identifier
        clocks = ["UTC", "Etc/UTC"].contains(identifier) ? nil : try database.zone(identifier)
    }

    static func == (left: ScheduleZone, right: ScheduleZone) -> Bool { left.identifier == right.identifier }

    /// Returns how many seconds the zone's clocks are ahead of UTC.
    func offset(at seconds: Int64) -> Int64 {
        clocks?.offset(at: seconds) ?? 0
    }

    /// Returns the moment or moments at which the zone's clocks show a local time.
    func moment(of local: Int64) -> Moment {
        if clocks == nil { return .once(local) }
        // Offsets are less than a day, so a relevant change is between these two times.
        let (before, after) = (offset(at: local - CivilDay.seconds), offset(at: local + CivilDay.seconds))
        if before == after { return .once(local - before) }
        let fits = [local - before, local - after].filter { offset(at: $0) + $0 == local }
        if fits.count == 2 { return .twice(first: min(fits[0], fits[1]), second: max(fits[0], fits[1])) }
        if let only = fits.first { return .once(only) }
        return .skipped(jump: change(after: local - after, upTo: local - before))
    }

    /// Returns the first second after `start` with the offset of `end`, which must differ from that of `start`.
    func change(after start: Int64, upTo end: Int64) -> Int64 {
        let old = offset(at: start)
        var (low, high) = (start, end)
        while high - low > 1 {
            let middle = low + (high - low) / 2
            if offset(at: middle) == old { low = middle } else { high = middle }
        }
        return high
    }
}
