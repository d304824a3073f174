/// The limits of an operation description, the same for every producer in every language.
///
/// A description outside of them is refused before anything is sent.
public enum DescriptionLimits: Sendable {
    /// Most bytes of the arguments' JSON text: 1 MiB.
    public static let argumentsBytes = 1_048_576
    /// Most bytes of the whole description's JSON text: 1 MiB and 64 KiB.
    public static let descriptionBytes = 1_114_112
    /// Most nested arrays and objects in the arguments, in `meta` or in the value of an unknown key.
    public static let depth = 64
    /// Most characters of an operation's or a queue's name, each of `A-Z a-z 0-9 _ . -`.
    public static let tokenLength = 128
    /// Most characters of an id, each of `A-Z a-z 0-9 _ -`.
    public static let idLength = 64
    /// Most bytes of a name in UTF-8.
    public static let nameBytes = 1024
    /// Shortest and longest timeout in milliseconds: 1 ms to 365 days.
    public static let timeoutMilliseconds: ClosedRange<Int64> = 1...31_536_000_000
    /// First and last time a job can be made to wait for, in milliseconds since 1970 UTC (13 digits at most: the year
    /// 2286).
    public static let notBeforeMilliseconds: ClosedRange<Int64> = 0...9_999_999_999_999
    /// Numbers within these times, 12 days to 31 years after 1970, that are refused as the earliest time to run: they are
    /// times in seconds, and a job that was given one would run at once.
    public static let notBeforeSeconds: Range<Int64> = 1_000_000_000..<1_000_000_000_000
    /// Fewest and most retries.
    public static let retries: ClosedRange<Int64> = 0...1000
    /// Shortest and longest wait that a ``RetryDelays`` of a description may say, in milliseconds: 1 ms to 365 days.
    public static let backoffMilliseconds: ClosedRange<Int64> = 1...31_536_000_000
    /// Lowest and highest priority; the highest goes first.
    public static let priority: ClosedRange<Int64> = 0...9
}
