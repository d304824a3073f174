/// What a producer hands over: the operation, its arguments, and how they are to be run.
///
/// It is the format that producers and workers share, in every language; `docs/format.md` defines it. A value of this
/// type has been checked, however it was made. What is left out stays left out, so that a catalogue or a worker can
/// fill it in.
///
/// ```swift
/// let description = try OperationDescription(
///     "thumbnail",
///     arguments: ["path": "a.jpg"],
///     queue: "images",
///     unique: .drop,
///     timeout: .seconds(10)
/// )
/// ```
public struct OperationDescription: Sendable {
    /// What kind of work it is: 1 to 128 characters of `A-Z a-z 0-9 _ . -`.
    public internal(set) var operation: String
    /// What the operation works on: any JSON value of at most 1 MiB, kept exactly as written.
    public internal(set) var arguments: JSONText
    /// The name for uniqueness, 1 to 1,024 bytes, compared byte by byte. When it is left out and the policy is not
    /// `ignore`, ``uniqueName`` stands in for it.
    public internal(set) var name: String?
    /// The earliest time to run, in milliseconds since 1970 UTC by the broker's clock; nil for now.
    public internal(set) var notBefore: Int64?
    /// How often a failed run is repeated, 0 to 1,000; nil leaves it to the worker.
    public internal(set) var retries: Int?
    /// The job's id: 1 to 64 characters of `A-Z a-z 0-9 _ -`. One is made on pushing when it is left out.
    public internal(set) var id: String?

    /// The queue, if one was given.
    public internal(set) var givenQueue: String?
    /// The uniqueness policy, if one was given.
    public internal(set) var givenPolicy: UniquenessPolicy?
    /// How long the name is held, if that was given.
    public internal(set) var givenUniqueUntil: UniqueUntil?
    /// The priority, if one was given.
    public internal(set) var givenPriority: Int?

    /// The timeout in milliseconds; see ``timeout``.
    var timeoutMilliseconds: Int64?
    /// The object of `backoff` as it was written; see ``backoff``.
    var backoffText: JSONText?
    /// The object of `meta` as it was written.
    package var metaText: JSONText?
    /// The members that version 1 does not know, as written, with the commas between them.
    var unknownMembers: [UInt8] = []

    /// A description with nothing but its operation, which the caller has checked.
    init(unchecked operation: String) {
        self.operation = operation
        arguments = .emptyObject
    }
}

extension OperationDescription {
    /// The queue to push to; "default" when none was given.
    public var queue: String { givenQueue ?? "default" }

    /// What happens when another job holds the name; `ignore` when nothing was given.
    public var uniquenessPolicy: UniquenessPolicy { givenPolicy ?? .ignore }

    /// How long the job holds its name: until it has finished when nothing was given, or the policy is `ignore`.
    public var uniqueUntil: UniqueUntil { uniquenessPolicy == .ignore ? .finished : givenUniqueUntil ?? .finished }

    /// The priority, 0 to 9, 9 first; 5 when none was given.
    public var priority: Int { givenPriority ?? 5 }

    /// How long a run may take, in whole milliseconds from 1 ms to 365 days; nil leaves it to the worker.
    public var timeout: Duration? { timeoutMilliseconds.map { .milliseconds($0) } }

    /// What travels along beside the arguments, such as a `traceparent`: the members of `meta` that are strings. Other
    /// members are kept and written again, but are not shown here.
    public var meta: [String: String] { metaText?.stringMembers ?? [:] }
}

extension OperationDescription: Equatable {
    /// Whether two descriptions are written with the same bytes. (Swift's own comparison of strings takes different
    /// bytes for equal when they look the same, which names must not be.)
    public static func == (left: OperationDescription, right: OperationDescription) -> Bool {
        left.encoded() == right.encoded()
    }
}
