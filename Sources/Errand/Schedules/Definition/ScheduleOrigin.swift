extension Schedule {
    /// The source of a definition.
    public enum Origin: Sendable, Equatable {
        /// A program that declares it.
        case program
        /// An operations catalogue: the path of its file, and since when that file no longer has the schedule, in
        /// milliseconds since 1970 UTC, as the last worker that started with the file detected.
        case catalogue(file: String, removed: Int64? = nil)
        /// A person, with `errand schedule add`: when, in milliseconds since 1970 UTC; the file of the catalogue whose
        /// definition this one replaces, if there is one; and since when that file no longer has the schedule.
        case person(edited: Int64, catalogue: String? = nil, removed: Int64? = nil)

        /// The path of the catalogue that declares the schedule, or did so before a person changed it.
        public var catalogue: String? {
            switch self {
            case .program: nil
            case .catalogue(let file, _): file
            case .person(_, let file, _): file
            }
        }

        /// Since when the catalogue no longer has the schedule, in milliseconds since 1970 UTC.
        package var removed: Int64? {
            switch self {
            case .program: nil
            case .catalogue(_, let removed), .person(_, _, let removed): removed
            }
        }
        /// When a person changed the schedule, in milliseconds since 1970 UTC.
        package var edited: Int64? { if case .person(let edited, _, _) = self { edited } else { nil } }

        /// The word for it in JSON.
        package var word: String {
            switch self {
            case .program: "program"
            case .catalogue: "catalogue"
            case .person: "person"
            }
        }
    }

    /// Returns the same definition, marked as present in or removed from its catalogue's file.
    ///
    /// - Parameter time: since when the file no longer has the schedule, in milliseconds since 1970 UTC; `nil` if it
    ///   has it.
    package func removed(at time: Int64?) -> Schedule {
        switch origin {
        case .program: self
        case .catalogue(let file, _): from(.catalogue(file: file, removed: time))
        case .person(let edited, let file, _):
            from(.person(edited: edited, catalogue: file, removed: file == nil ? nil : time))
        }
    }

    /// Returns the same definition with another source.
    package func from(_ origin: Origin) -> Schedule {
        var schedule = self
        schedule.origin = origin
        return schedule
    }
}

extension Schedule.Origin: CustomStringConvertible {
    /// The source for people: `program`, `catalogue jobs.yaml`, `removed from jobs.yaml`, `by hand`,
    /// `by hand instead of jobs.yaml`, `by hand, removed from jobs.yaml`.
    public var description: String {
        switch self {
        case .program: "program"
        case .catalogue(let file, nil): "catalogue \(file)"
        case .catalogue(let file, _?): "removed from \(file)"
        case .person(_, let file?, _?): "by hand, removed from \(file)"
        case .person(_, let file?, nil): "by hand instead of \(file)"
        case .person: "by hand"
        }
    }
}
