import ArgumentParser
import Errand

/// Another library and the structure of its keys.
protocol ImportSource: Sendable {
    /// Returns the keys that contain waiting jobs, or jobs that dead workers may have left. Empty ones may be left out.
    func places() async throws -> [ImportPlace]

    /// Converts an entry's job to an operation description.
    ///
    /// - Throws: ``ImportProblem`` if the job cannot be read or may still be running.
    func description(of entry: ImportPlace.Entry, in place: ImportPlace) async throws -> OperationDescription

    /// Removes other data of an entry's job, after the entry was removed.
    func forget(_ entry: ImportPlace.Entry, in place: ImportPlace) async throws(BrokerError)
}

/// The libraries from which jobs can be moved.
enum ImportLibrary: String, CaseIterable, ExpressibleByArgument {
    case swiftJobs = "swift-jobs"
    case vaporQueues = "vapor-queues"
    case sidekiq

    func source(_ redis: ForeignRedis, _ queues: [String], namespace: String?, stranded: Bool) -> any ImportSource {
        switch self {
        case .swiftJobs:
            SwiftJobsSource(redis: redis, queues: queues.isEmpty ? ["_hbJobQueue"] : queues, stranded: stranded)
        case .vaporQueues:
            VaporQueuesSource(
                redis: redis,
                persistenceKey: namespace ?? "vapor_queues",
                queues: queues.isEmpty ? ["default"] : queues,
                stranded: stranded
            )
        case .sidekiq: SidekiqSource(redis: redis, queues: queues, prefix: namespace.map { $0 + ":" } ?? "")
        }
    }
}

/// Conversions of other libraries' names and values.
enum ImportedName {
    /// Returns the name with `_` for each character that Errand does not permit.
    static func adapted(_ name: String) -> String {
        let characters = name.unicodeScalars.map { scalar -> Character in
            let isTaken =
                scalar.isASCII
                && (scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                    || "_.-".unicodeScalars.contains(scalar))
            return isTaken ? Character(scalar) : "_"
        }
        return String(characters.prefix(DescriptionLimits.tokenLength))
    }

    /// Returns a valid id unchanged, so that a moved job is not moved again; `nil` lets Errand make a new one.
    static func id(_ text: String) -> String? { QueueName.isValid(jobID: text) ? text : nil }

    /// Converts seconds since 1970 to the milliseconds of a description; `nil` if the job is due. A job that was
    /// scheduled thousands of years ahead to put it aside gets the largest possible time.
    static func time(_ seconds: Double?) -> Int64? {
        guard let seconds, seconds * 1000 >= Double(DescriptionLimits.notBeforeSeconds.upperBound) else { return nil }
        return Int64(min((seconds * 1000).rounded(.up), 9_999_999_999_999))
    }

    static func retries(_ count: Int) -> Int { min(max(count, 0), Int(DescriptionLimits.retries.upperBound)) }
}
