/// The limits of an operation description, the same for producers in every language.
///
/// A description that exceeds them is rejected before it is sent.
public enum DescriptionLimits: Sendable {
    /// The maximum size of the arguments' JSON text in bytes: 1 MiB.
    public static let argumentsBytes = 1_048_576
    /// The maximum size of the whole description's JSON text in bytes: 1 MiB and 64 KiB.
    public static let descriptionBytes = 1_114_112
    /// The maximum depth of nested arrays and objects in the arguments, in `meta` or in the value of an unknown key.
    public static let depth = 64
    /// The maximum length of the name of an operation or queue in characters, each of `A-Z a-z 0-9 _ . -`.
    public static let tokenLength = 128
    /// The maximum length of an id in characters, each of `A-Z a-z 0-9 _ -`.
    public static let idLength = 64
    /// The maximum length of a name in bytes of UTF-8.
    public static let nameBytes = 1024
    /// The maximum number of tags.
    public static let tags = 8
    /// The maximum length of a tag in bytes of UTF-8.
    public static let tagBytes = 64
    /// The maximum size of an envelope's fragment in bytes; the broker does not copy a larger one into events.
    static let fragmentBytes = 8192
    /// The range of timeouts in milliseconds: 1 ms to 365 days.
    public static let timeoutMilliseconds: ClosedRange<Int64> = 1...31_536_000_000
    /// The range of the earliest time to run, in milliseconds since 1970 UTC (at most 13 digits: the year 2286).
    public static let notBeforeMilliseconds: ClosedRange<Int64> = 0...9_999_999_999_999
    /// Numbers that are rejected as the earliest time to run, 12 days to 31 years after 1970: they are times in
    /// seconds, and such a job would run immediately.
    public static let notBeforeSeconds: Range<Int64> = 1_000_000_000..<1_000_000_000_000
    /// The range of the number of retries.
    public static let retries: ClosedRange<Int64> = 0...1000
    /// The range of the delays of a description's ``RetryDelays`` in milliseconds: 1 ms to 365 days.
    public static let backoffMilliseconds: ClosedRange<Int64> = 1...31_536_000_000
    /// The maximum length of each part of a group in characters, each of `A-Z a-z 0-9 _ . : @ + -`.
    public static let groupPartLength = 64
    /// The range of costs.
    public static let cost: ClosedRange<Int64> = 1...1_000_000
    /// The range of priorities; jobs with the highest run first.
    public static let priority: ClosedRange<Int64> = 0...9
}
