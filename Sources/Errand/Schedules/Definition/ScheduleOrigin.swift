extension Schedule {
    /// Where a definition comes from.
    public enum Origin: Sendable, Equatable {
        /// A program that declares it.
        case program
        /// An operations catalogue: the path of its file, and since when that file no longer has the schedule, in
        /// milliseconds since 1970 UTC, as the last worker that started with the file found.
        case catalogue(file: String, removed: Int64? = nil)
        /// A person, by `errand schedule add`: when, in milliseconds since 1970 UTC, and the file of the catalogue in the
        /// place of whose definition it stands, if there is one; and since when that file no longer has the schedule.
        case person(edited: Int64, catalogue: String? = nil, removed: Int64? = nil)

        /// The path of the catalogue that declares the schedule, or did so before a person changed it.
        public var catalogue: String? {
            switch self {
            case .program: nil
            case .catalogue(let file, _): file
            case .person(_, let file, _): file
            }
        }

        /// Since when the catalogue no longer has it, in milliseconds since 1970 UTC.
        package var removed: Int64? {
            switch self {
            case .program: nil
            case .catalogue(_, let removed), .person(_, _, let removed): removed
            }
        }
        /// When a person wrote it, in milliseconds since 1970 UTC.
        package var edited: Int64? { if case .person(let edited, _, _) = self { edited } else { nil } }

        /// The word that stands for it in JSON.
        package var word: String {
            switch self {
            case .program: "program"
            case .catalogue: "catalogue"
            case .person: "person"
            }
        }
    }

    /// The same definition, with a note whether its catalogue's file still has it.
    ///
    /// - Parameter time: since when it does not, in milliseconds since 1970 UTC; `nil` when it does.
    package func removed(at time: Int64?) -> Schedule {
        switch origin {
        case .program: self
        case .catalogue(let file, _): from(.catalogue(file: file, removed: time))
        case .person(let edited, let file, _):
            from(.person(edited: edited, catalogue: file, removed: file == nil ? nil : time))
        }
    }

    /// The same definition from elsewhere.
    package func from(_ origin: Origin) -> Schedule {
        var schedule = self
        schedule.origin = origin
        return schedule
    }
}

extension Schedule.Origin: CustomStringConvertible {
    /// For people: `program`, `catalogue jobs.yaml`, `removed from jobs.yaml`, `by hand`, `by hand instead of jobs.yaml`,
    /// `by hand, removed from jobs.yaml`.
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
