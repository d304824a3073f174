#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The parameters of one kind of job: a type that producers push and handlers receive.
///
/// The type also has the operation's name and the defaults of its jobs. It belongs to a module that producers and
/// workers share, so that a push specifies only what is special about one job. The design follows swift-jobs.
///
/// ```swift
/// struct SendEmail: JobParameters {
///     static let jobName = "email.send"
///     static let jobDefaults = JobDefaults(queue: "mail", retries: 5, uniqueness: .drop(by: "to", "template"))
///
///     let to: String
///     let template: String
/// }
/// ```
public protocol JobParameters: Codable, Sendable {
    /// The operation's name: 1 to 128 characters of `A-Z a-z 0-9 _ . -`.
    static var jobName: String { get }

    /// Defaults for jobs of this type. No defaults unless implemented.
    static var jobDefaults: JobDefaults { get }

    /// Former names of this type, which workers still serve. None unless implemented.
    ///
    /// To rename a type, add the old name here, change ``jobName``, deploy workers, then deploy producers. Remove the
    /// old name after its last job has ended.
    static var jobAliases: [String] { get }

    /// The version of the type's fields, from 1; 1 unless implemented. It is stored with each job.
    static var jobVersion: Int { get }

    /// Makes the current parameters from arguments that an older version of the type has encoded.
    ///
    /// Workers call it only for jobs whose version is lower than ``jobVersion``.
    ///
    /// ```swift
    /// init(upgrading arguments: JSONText, from version: Int) throws {
    ///     let old = try arguments.decode(SendEmailV1.self)
    ///     self.init(to: old.address, template: "plain")
    /// }
    /// ```
    ///
    /// - Throws: an error that states why the arguments cannot be upgraded; the job is then dead, with that reason. The
    ///   default implementation decodes the arguments as the current version.
    init(upgrading arguments: JSONText, from version: Int) throws
}

extension JobParameters {
    /// No defaults.
    public static var jobDefaults: JobDefaults { JobDefaults() }

    /// No former names.
    public static var jobAliases: [String] { [] }

    /// The first version.
    public static var jobVersion: Int { 1 }

    /// Decodes the old arguments as the current version, which suffices if all newer fields are optional.
    public init(upgrading arguments: JSONText, from version: Int) throws {
        self = try arguments.decode(Self.self)
    }
}

extension JobParameters {
    /// The key of the version in a description's `meta`; omitted for version 1.
    static var versionKey: String { "errand.version" }

    /// Makes the operation description of one job.
    func described(_ options: PushOptions, now: Date) throws -> OperationDescription {
        try described(options, uniqueness: options.uniqueness ?? Self.jobDefaults.uniqueness, now: now)
    }

    /// Makes the operation description of one job with this uniqueness, whatever the type's defaults are.
    func described(_ options: PushOptions, uniqueness: JobUniqueness?, now: Date) throws -> OperationDescription {
        let arguments: JSONText
        do { arguments = try JSONText(encoding: self) } catch { throw DescriptionError(error, .arguments) }
        let defaults = Self.jobDefaults
        var meta = options.meta
        if Self.jobVersion > 1 { meta[Self.versionKey] = String(Self.jobVersion) }
        return try OperationDescription(
            Self.jobName,
            arguments: arguments,
            queue: options.queue ?? defaults.queue,
            name: options.name ?? uniqueness?.name(of: arguments, as: Self.self, operation: Self.jobName),
            unique: uniqueness?.policy,
            uniqueUntil: uniqueness?.until == .started ? .started : nil,
            window: uniqueness?.window,
            atMost: uniqueness?.atMost,
            timeout: options.timeout,
            notBefore: options.notBefore(now),
            expiresIn: options.expiresIn ?? defaults.expiresIn,
            retries: options.retries,
            backoff: options.backoff,
            priority: options.priority ?? defaults.priority,
            group: options.group ?? defaults.group?.group(of: arguments),
            cost: options.cost ?? defaults.cost,
            id: options.id,
            tags: defaults.tags + options.tags.filter { !defaults.tags.contains($0) },
            meta: meta
        )
    }

    /// What does not fit, in a few words.
    private static func sentence(of error: any Error) -> String {
        func place(_ context: DecodingError.Context, _ last: [any CodingKey] = []) -> String {
            let path = (context.codingPath + last).map(\.stringValue).joined(separator: ".")
            return path.isEmpty ? "the whole" : "\"\(path)\""
        }
        return switch error as? DecodingError {
        case .keyNotFound(let key, let context): "\(place(context, [key])) is missing"
        case .valueNotFound(let type, let context): "\(place(context)) is null and must be \(type)"
        case .typeMismatch(let type, let context): "\(place(context)) must be \(type)"
        case .dataCorrupted(let context): "\(place(context)): \(context.debugDescription)"
        default: "\(error)"
        }
    }

    /// Reads the parameters of a job that this worker has claimed.
    ///
    /// - Throws: a final ``JobFailure`` if the arguments do not fit the type; ``JobSnooze`` if a newer version of the
    ///   type has encoded them, so that a worker of that version can claim the job.
    static func read(_ job: JobContext) throws -> Self {
        let version = job.meta[versionKey].flatMap(Int.init) ?? 1
        guard version <= jobVersion else { throw JobSnooze(for: .seconds(15)) }
        do {
            return version == jobVersion
                ? try job.arguments.decode(Self.self) : try Self(upgrading: job.arguments, from: version)
        } catch {
            throw JobFailure(
                "the arguments do not fit \(Self.self), version \(version): \(sentence(of: error)); make new properties "
                    + "optional, or raise jobVersion and read older arguments in init(upgrading:from:)",
                isFinal: true
            )
        }
    }
}
