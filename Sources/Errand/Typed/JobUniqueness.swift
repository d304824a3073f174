/// Whether there may be two jobs of a type at a time, and which of them counts as the same job.
///
/// ```swift
/// let examples: [JobUniqueness] = [
///     .drop,  // the same arguments: the newer job gives way
///     .drop(by: "to"),  // the same recipient
///     .replace(by: "document"),  // the newer job takes the older one's place
///     .drop(by: "id").untilStarted,  // one waits at the most; others of it may run
/// ]
/// ```
public struct JobUniqueness: Sendable, Equatable {
    /// What happens when another job holds the name.
    public var policy: UniquenessPolicy
    /// How long a job counts: until it has finished, or until it starts.
    public var until = UniqueUntil.finished
    /// The fields of the arguments that make two jobs the same; all of them when there are none here.
    public var fields: [String]

    /// Makes a rule.
    public init(_ policy: UniquenessPolicy, by fields: [String] = []) {
        self.policy = policy
        self.fields = fields
    }

    /// Two jobs never count as the same.
    public static let ignore = JobUniqueness(.ignore)
    /// A job with the arguments of an unfinished one gives way to it.
    public static let drop = JobUniqueness(.drop)
    /// A job takes the place of an unfinished one with its arguments.
    public static let replace = JobUniqueness(.replace)

    /// A job gives way to an unfinished one that is equal in these fields.
    public static func drop(by fields: String...) -> JobUniqueness { JobUniqueness(.drop, by: fields) }

    /// A job takes the place of an unfinished one that is equal in these fields.
    public static func replace(by fields: String...) -> JobUniqueness { JobUniqueness(.replace, by: fields) }

    /// The same rule for jobs that have not started: a job that runs is in nobody's way.
    public var untilStarted: JobUniqueness {
        var rule = self
        rule.until = .started
        return rule
    }

    /// The name of a job with these arguments; `nil` when all of them count, or none.
    ///
    /// Such as `email.send {"to":"ada@example.org"}`. A field that is missing counts as `null`.
    func name(of arguments: JSONText, operation: String) -> String? {
        guard policy != .ignore, !fields.isEmpty else { return nil }
        return OperationDescription.defaultName(operation, arguments.picking(Set(fields)))
    }
}
