/// Whether jobs of a type are unique, and which of them count as the same job.
///
/// ```swift
/// let examples: [JobUniqueness] = [
///     .drop,  // the same arguments: the newer job gives way
///     .drop(by: "to"),  // the same recipient
///     .replace(by: "document"),  // the newer job takes the older one's place
///     .drop(by: "id").untilStarted,  // at most one waits; others may run
/// ]
/// ```
public struct JobUniqueness: Sendable, Equatable {
    /// The policy if another job holds the name.
    public var policy: UniquenessPolicy
    /// Until when a job holds its name: until it has finished, or until it starts.
    public var until = UniqueUntil.finished
    /// The fields of the arguments that identify a job; if empty, all of them.
    public var fields: [String]

    /// Makes a rule.
    public init(_ policy: UniquenessPolicy, by fields: [String] = []) {
        self.policy = policy
        self.fields = fields
    }

    /// Jobs are not unique.
    public static let ignore = JobUniqueness(.ignore)
    /// A new job is dropped if an unfinished job has the same arguments.
    public static let drop = JobUniqueness(.drop)
    /// A new job replaces an unfinished one with the same arguments.
    public static let replace = JobUniqueness(.replace)

    /// A new job is dropped if an unfinished job has equal values in these fields.
    public static func drop(by fields: String...) -> JobUniqueness { JobUniqueness(.drop, by: fields) }

    /// A new job replaces an unfinished one that has equal values in these fields.
    public static func replace(by fields: String...) -> JobUniqueness { JobUniqueness(.replace, by: fields) }

    /// The same rule for jobs that have not started: a running job no longer holds the name.
    public var untilStarted: JobUniqueness {
        var rule = self
        rule.until = .started
        return rule
    }

    /// Returns the name of a job with these arguments, such as `email.send {"to":"ada@example.org"}`; `nil` if
    /// jobs are not unique, or if all fields count: the description then makes the same name from all arguments.
    ///
    /// A missing field counts as `null`.
    func name(of arguments: JSONText, operation: String) -> String? {
        guard policy != .ignore, !fields.isEmpty else { return nil }
        return OperationDescription.defaultName(operation, arguments.picking(Set(fields)))
    }
}
