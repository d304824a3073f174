import ArgumentParser
import Errand

/// Another library, and how it keeps its jobs.
protocol ImportSource: Sendable {
    /// Where jobs wait, and where dead workers may have left some. Places that are empty may be left out.
    func places() async throws -> [ImportPlace]

    /// The job of an entry as Errand's.
    ///
    /// - Throws: ``ImportProblem`` when it cannot be read, or may still run.
    func description(of entry: ImportPlace.Entry, in place: ImportPlace) async throws -> OperationDescription

    /// Removes what is kept of the entry's job elsewhere; called when the entry is gone.
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

/// Names of other libraries as operations and queues here.
enum ImportedName {
    /// The same name with `_` for each character that Errand does not take.
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

    /// Ids stay as they are, so that a job that was moved is not moved again; others leave it to Errand to make one.
    static func id(_ text: String) -> String? { QueueName.isValid(jobID: text) ? text : nil }

    /// Seconds since 1970 as the wire has times; `nil` for what is due anyway. What is parked for good, by a time of thousands of years
    /// or without an end, stays so for as long as a time can be.
    static func time(_ seconds: Double?) -> Int64? {
        guard let seconds, seconds * 1000 >= Double(DescriptionLimits.notBeforeSeconds.upperBound) else { return nil }
        return Int64(min((seconds * 1000).rounded(.up), 9_999_999_999_999))
    }

    static func retries(_ count: Int) -> Int { min(max(count, 0), Int(DescriptionLimits.retries.upperBound)) }
}
