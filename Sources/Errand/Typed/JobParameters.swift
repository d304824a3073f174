#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What a job of one kind works on: a type of yours that producers push and workers are handed.
///
/// The type's name for jobs and its defaults live here, in the module that both sides share, so that a call to push says
/// only what is special about one job. The shape is that of swift-jobs.
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

    /// What applies to jobs of this type that do not say it themselves. Nothing unless you say it.
    static var jobDefaults: JobDefaults { get }

    /// Names that this type had before, which workers go on to serve. None unless you say it.
    ///
    /// To rename a type: add the old name here, change ``jobName``, deploy workers, deploy producers; when the last job of the
    /// old name has ended, take it out.
    static var jobAliases: [String] { get }

    /// The version of the type's shape, from 1; 1 unless you say it. It travels with each job.
    static var jobVersion: Int { get }

    /// Makes today's shape of arguments that an older version of the type wrote.
    ///
    /// Called on workers, only for jobs whose version is lower than ``jobVersion``.
    ///
    /// ```swift
    /// init(upgrading arguments: JSONText, from version: Int) throws {
    ///     let old = try arguments.decode(SendEmailV1.self)
    ///     self.init(to: old.address, template: "plain")
    /// }
    /// ```
    ///
    /// - Throws: whatever says why it cannot be done; the job is dead then, with that reason. Unless you write one, today's
    ///   shape is tried as it is.
    init(upgrading arguments: JSONText, from version: Int) throws
}

extension JobParameters {
    /// No defaults.
    public static var jobDefaults: JobDefaults { JobDefaults() }

    /// No former names.
    public static var jobAliases: [String] { [] }

    /// The first version.
    public static var jobVersion: Int { 1 }

    /// Takes the old arguments for today's, which is right when what came since is optional.
    public init(upgrading arguments: JSONText, from version: Int) throws {
        self = try arguments.decode(Self.self)
    }
}

extension JobParameters {
    /// The key in a description's `meta` under which the version travels; left out for version 1.
    static var versionKey: String { "errand.version" }

    /// The operation description of one job.
    func described(_ options: PushOptions, now: Date) throws -> OperationDescription {
        try described(options, uniqueness: options.uniqueness ?? Self.jobDefaults.uniqueness, now: now)
    }

    /// The operation description of one job that is unique as said, whatever its type says.
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
            name: options.name ?? uniqueness?.name(of: arguments, operation: Self.jobName),
            unique: uniqueness?.policy,
            uniqueUntil: uniqueness?.until == .started ? .started : nil,
            timeout: options.timeout,
            notBefore: options.notBefore(now),
            retries: options.retries,
            backoff: options.backoff,
            priority: options.priority ?? defaults.priority,
            id: options.id,
            meta: meta
        )
    }

    /// The parameters of a job that this worker was handed.
    ///
    /// - Throws: ``JobFailure`` that is final when they do not fit the type; ``JobSnooze`` when a newer version of the type
    ///   wrote them, so that a worker of that version finds the job.
    static func read(_ job: JobContext) throws -> Self {
        let version = job.meta[versionKey].flatMap(Int.init) ?? 1
        guard version <= jobVersion else { throw JobSnooze(for: .seconds(15)) }
        do {
            return version == jobVersion
                ? try job.arguments.decode(Self.self) : try Self(upgrading: job.arguments, from: version)
        } catch {
            throw JobFailure("the arguments do not fit \(Self.self), version \(version): \(error)", isFinal: true)
        }
    }
}
