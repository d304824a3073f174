/// A job as a producer describes it: the operation, its arguments, and how to run them.
///
/// Producers and workers in every language share its format, which `docs/format.md` defines. A value of this type is
/// always valid, however it was made. Values that are not given remain absent, so that a catalogue or a worker can
/// supply them.
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
    /// The kind of work: 1 to 128 characters of `A-Z a-z 0-9 _ . -`.
    public internal(set) var operation: String
    /// The operation's arguments: any JSON value of at most 1 MiB, kept exactly as written.
    public internal(set) var arguments: JSONText
    /// The name for uniqueness, 1 to 1,024 bytes, compared byte by byte. If it is `nil` and the policy is not `ignore`,
    /// ``uniqueName`` is used.
    public internal(set) var name: String?
    /// The earliest time to run, in milliseconds since 1970 UTC by the broker's clock; `nil` for now.
    public internal(set) var notBefore: Int64?
    /// The number of retries after a failed run, 0 to 1,000; if `nil`, the worker's.
    public internal(set) var retries: Int?
    /// The job's id: 1 to 64 characters of `A-Z a-z 0-9 _ -`. If `nil`, the push makes one.
    public internal(set) var id: String?
    /// The group, whose limits and share of the workers the job has: one or two parts with a slash between, such as
    /// `tenant-7` or `tenant-7/user-3`, each of 1 to 64 characters of `A-Z a-z 0-9 _ . : @ + -`; `nil` for none.
    public internal(set) var group: String?
    /// What the job is charged in its group's share, 1 to 1,000,000; if `nil`, 1.
    public internal(set) var cost: Int?
    /// How long after the push the job expires, in milliseconds; see ``expiresIn``.
    var expiresMilliseconds: Int64?
    /// Words by which the job can be found: at most 8 of 1 to 64 bytes each.
    public internal(set) var tags: [String] = []

    /// The workflow that has pushed the job; `nil` for other jobs. A description with it cannot be pushed by itself.
    public internal(set) var workflow: WorkflowMembership?

    /// The queue, if one was given.
    public internal(set) var givenQueue: String?
    /// The uniqueness policy, if one was given.
    public internal(set) var givenPolicy: UniquenessPolicy?
    /// Until when the name is held, if that was given.
    public internal(set) var givenUniqueUntil: UniqueUntil?
    /// The priority, if one was given.
    public internal(set) var givenPriority: Int?

    /// The window in milliseconds; see ``window``.
    var windowMilliseconds: Int64?
    /// The longest wait in milliseconds; see ``atMost``.
    var atMostMilliseconds: Int64?
    /// The timeout in milliseconds; see ``timeout``.
    var timeoutMilliseconds: Int64?
    /// The `backoff` object as written; see ``backoff``.
    var backoffText: JSONText?
    /// The `meta` object as written.
    package var metaText: JSONText?
    /// The members that version 1 does not have, as written, with commas between them.
    var unknownMembers: [UInt8] = []

    /// Makes a description with only an operation, which the caller has checked.
    init(unchecked operation: String) {
        self.operation = operation
        arguments = .emptyObject
    }
}

extension OperationDescription {
    /// The queue to push to; "default" if none was given.
    public var queue: String { givenQueue ?? "default" }

    /// What happens if another job holds the name; `ignore` if no policy was given.
    public var uniquenessPolicy: UniquenessPolicy { givenPolicy ?? .ignore }

    /// How long the job holds its name: until it has finished if nothing was given, or if it takes no name. A debounced
    /// job holds it until it starts.
    public var uniqueUntil: UniqueUntil {
        switch uniquenessPolicy {
        case .ignore, .throttle: .finished
        case .debounce: .started
        case .drop, .replace, .keepLatest: givenUniqueUntil ?? .finished
        }
    }

    /// The window of the policies `throttle` and `debounce`, which need one, in whole milliseconds from 1 ms to 365 days.
    public var window: Duration? { windowMilliseconds.map { .milliseconds($0) } }

    /// How long the first job of a series of debounced ones waits at most, in whole milliseconds from 1 ms to 365 days;
    /// if `nil`, as long as newer ones come.
    public var atMost: Duration? { atMostMilliseconds.map { .milliseconds($0) } }

    /// The priority, 0 to 9; jobs with higher numbers run first. 5 if none was given.
    public var priority: Int { givenPriority ?? 5 }

    /// How long a run may take, in whole milliseconds from 1 ms to 365 days; if `nil`, the worker's timeout applies.
    public var timeout: Duration? { timeoutMilliseconds.map { .milliseconds($0) } }

    /// How long after the push a job that no worker has claimed expires, by the broker's clock, in whole milliseconds from
    /// 1 ms to 365 days; if `nil`, it does not.
    public var expiresIn: Duration? { expiresMilliseconds.map { .milliseconds($0) } }

    /// Additional data that is stored with the arguments, such as a `traceparent`: the members of `meta` that are
    /// strings. Other members are preserved but not included here.
    public var meta: [String: String] { metaText?.stringMembers ?? [:] }
}

extension OperationDescription: Equatable {
    /// Returns whether two descriptions are encoded as the same bytes. (Swift compares strings by canonical
    /// equivalence, but names are compared by their bytes.)
    public static func == (left: OperationDescription, right: OperationDescription) -> Bool {
        left.encoded() == right.encoded()
    }
}
