import ErrandText

/// Why a schedule was refused: what is wrong, where, and what is expected there.
public struct ScheduleError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of faults; stable, for programs. More may come.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String {
            case malformed
            case invalid
            case unsupportedVersion = "unsupported_version"
            case unknownTimeZone = "unknown_time_zone"
        }

        private let kind: Kind

        /// The text is not JSON, or not the JSON of a schedule.
        public static let malformed = Code(kind: .malformed)
        /// A value is out of range, or says something that can never happen.
        public static let invalid = Code(kind: .invalid)
        /// A newer version of Errand wrote it; it is kept as it is.
        public static let unsupportedVersion = Code(kind: .unsupportedVersion)
        /// This host's time zone database does not have the zone, or there is no database; another host may have it.
        public static let unknownTimeZone = Code(kind: .unknownTimeZone)

        /// The kind in snake_case.
        public var description: String { kind.rawValue }
    }

    /// What kind of fault it is.
    public let code: Code
    /// Which part of the schedule is at fault, such as `cron` or `template`, where one is.
    public let field: String?
    /// What is wrong and what is expected instead, for people.
    public let message: String

    init(_ code: Code, _ field: String?, _ message: String) {
        self.code = code
        // Both may hold what a stranger wrote, and get into logs and terminals.
        self.field = field?.printable.shortened(to: 100)
        self.message = message.printable.shortened(to: 1000)
    }

    init(_ code: Code, _ message: String) { self.init(code, nil, message) }

    /// The whole sentence.
    public var description: String {
        "schedule refused: " + (field.map { "\"\($0)\": " } ?? "") + message
    }
}

extension String {
    /// At most so many Unicode scalars: a definition may hold a book where a word belongs.
    fileprivate func shortened(to most: Int) -> String {
        utf8.count <= most || unicodeScalars.count <= most ? self : String(unicodeScalars.prefix(most - 1)) + "…"
    }
}
