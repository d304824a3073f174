import ErrandText

/// The error for an invalid schedule: what is wrong, where, and what is expected.
public struct ScheduleError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of errors; stable, for programs. More may be added.
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
        /// A value is out of range, or describes something that never happens.
        public static let invalid = Code(kind: .invalid)
        /// A newer version of Errand has written the schedule, which is kept unchanged.
        public static let unsupportedVersion = Code(kind: .unsupportedVersion)
        /// This host's time zone database does not have the zone, or there is no database. Another host may have it.
        public static let unknownTimeZone = Code(kind: .unknownTimeZone)

        /// The kind in snake_case.
        public var description: String { kind.rawValue }
    }

    /// The kind of error.
    public let code: Code
    /// The invalid part of the schedule, such as `cron` or `template`, if there is one.
    public let field: String?
    /// What is wrong and what is expected, for people.
    public let message: String

    init(_ code: Code, _ field: String?, _ message: String) {
        self.code = code
        // Both may contain untrusted text, and appear in logs and terminals.
        self.field = field?.printable.shortened(to: 100)
        // A definition may contain a long text in place of a word.
        self.message = message.printable.shortened(to: 1000)
    }

    init(_ code: Code, _ message: String) { self.init(code, nil, message) }

    /// The complete message.
    public var description: String {
        "invalid schedule: " + (field.map { "\"\($0)\": " } ?? "") + message
    }
}
