/// Whether jobs of a type are unique, and which of them count as the same job.
///
/// ```swift
/// let examples: [JobUniqueness] = [
///     .drop,  // the same arguments: the newer job gives way
///     .drop(by: "to"),  // the same recipient
///     .replace(by: "document"),  // the newer job takes the older one's place
///     .drop(by: \Document.id).untilStarted,  // at most one waits; others may run
///     .replace(by: "document").readable,  // the job's name shows which one
/// ]
/// ```
public struct JobUniqueness: Sendable, Equatable {
    /// The policy if another job holds the name.
    public var policy: UniquenessPolicy
    /// Until when a job holds its name: until it has finished, or until it starts.
    public var until = UniqueUntil.finished
    /// The window of ``throttle(per:)`` and ``debounce(_:atMost:)``, 1 ms to 365 days.
    public var window: Duration?
    /// How long a debounced job waits at most while newer ones come; if `nil`, as long as they come.
    public var atMost: Duration?
    /// The fields of the arguments that identify a job, as they are encoded; if empty, all of them. A push with a field
    /// that its type does not have is rejected, and a worker with such a type does not start.
    public var fields: [String]
    /// Whether the job's name shows the fields. By default it has a digest of them: arguments may be private, and names
    /// appear in lists, events and logs.
    public var isReadable = false

    /// Makes a rule.
    public init(_ policy: UniquenessPolicy, by fields: [String] = []) {
        self.policy = policy
        self.fields = fields
    }

    /// The first job with these arguments in a window is accepted, and later ones are dropped.
    public static func throttle(per window: Duration) -> JobUniqueness {
        var rule = JobUniqueness(.throttle)
        rule.window = window
        return rule
    }

    /// A job runs when no other one with the same arguments has been pushed for a window.
    ///
    /// - Parameters:
    ///   - window: How long it must be quiet, 1 ms to 365 days.
    ///   - atMost: How long the first job of a series waits at most; as long as newer ones come if `nil`.
    public static func debounce(_ window: Duration, atMost: Duration? = nil) -> JobUniqueness {
        var rule = JobUniqueness(.debounce)
        rule.window = window
        rule.atMost = atMost
        return rule
    }

    /// One job with the same arguments runs and one waits; a newer one replaces the one that waits.
    public static let keepLatest = JobUniqueness(.keepLatest)

    /// Jobs are not unique.
    public static let ignore = JobUniqueness(.ignore)
    /// A new job is dropped if an unfinished job has the same arguments.
    public static let drop = JobUniqueness(.drop)
    /// A new job replaces an unfinished one with the same arguments.
    public static let replace = JobUniqueness(.replace)

    /// A new job is dropped if an unfinished job has equal values in these fields.
    public static func drop(by fields: String...) -> JobUniqueness { JobUniqueness(.drop, by: fields) }

    /// A new job is dropped if an unfinished job has equal values in these properties, whose coding keys have the same names.
    public static func drop<Parameters>(by properties: PartialKeyPath<Parameters>...) -> JobUniqueness {
        JobUniqueness(.drop, by: properties.map(\.property))
    }

    /// A new job is dropped if an unfinished job has equal values in these fields.
    public static func drop(by keys: any CodingKey...) -> JobUniqueness {
        JobUniqueness(.drop, by: keys.map(\.stringValue))
    }

    /// A new job replaces an unfinished one that has equal values in these fields.
    public static func replace(by fields: String...) -> JobUniqueness { JobUniqueness(.replace, by: fields) }

    /// A new job replaces an unfinished one that has equal values in these properties, whose coding keys have the same names.
    public static func replace<Parameters>(by properties: PartialKeyPath<Parameters>...) -> JobUniqueness {
        JobUniqueness(.replace, by: properties.map(\.property))
    }

    /// A new job replaces an unfinished one that has equal values in these fields.
    public static func replace(by keys: any CodingKey...) -> JobUniqueness {
        JobUniqueness(.replace, by: keys.map(\.stringValue))
    }

    /// The same rule for jobs that have equal values in these fields, instead of in all arguments.
    public func by(_ fields: String...) -> JobUniqueness {
        var rule = self
        rule.fields = fields
        return rule
    }

    /// The same rule with names that show the fields, such as `email.send {"to":"ada@example.org"}`.
    public var readable: JobUniqueness {
        var rule = self
        rule.isReadable = true
        return rule
    }

    /// The same rule for jobs that have not started: a running job no longer holds the name.
    public var untilStarted: JobUniqueness {
        var rule = self
        rule.until = .started
        return rule
    }

    /// Returns the name of a job with these arguments. It is `nil` if jobs are not unique. It is also `nil` if all fields
    /// count and the name does not show them, because the description then makes the same name from all arguments.
    ///
    /// A field without a value counts as `null`.
    ///
    /// - Throws: ``DescriptionError`` if the type has no such field.
    func name<Parameters: Decodable>(
        of arguments: JSONText,
        as type: Parameters.Type,
        operation: String
    ) throws(DescriptionError) -> String? {
        guard policy != .ignore, isReadable || !fields.isEmpty else { return nil }
        try UniqueFields.check(fields, in: arguments, of: type)
        let named = fields.isEmpty ? arguments : arguments.picking(Set(fields))
        return isReadable
            ? OperationDescription.readableName(operation, named) : OperationDescription.digestName(operation, named)
    }
}

extension AnyKeyPath {
    /// The name of the property. Of anything else it is text that is no field of any type, so that it is refused.
    fileprivate var property: String {
        let text = String(reflecting: self)
        let root = "\\\(Self.rootType)."
        return text.hasPrefix(root) ? String(text.dropFirst(root.count)) : text
    }
}
