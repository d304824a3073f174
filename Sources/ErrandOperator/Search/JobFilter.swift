import Errand
import Foundation

/// A filter for jobs. Criteria that are `nil` do not apply.
package struct JobFilter: Sendable, Equatable {
    /// Only jobs of this operation.
    package var operation: String?
    /// Only jobs whose operation contains this text, regardless of case.
    package var operationContains: String?
    /// Only jobs with this name, compared byte by byte.
    package var name: String?
    /// Only jobs whose name contains this text, regardless of case.
    package var nameContains: String?
    /// Only jobs whose last error contains this text, regardless of case.
    package var errorContains: String?
    /// Only jobs whose last error has this pattern; see ``ErrorPattern``.
    package var errorPattern: String?
    /// Only jobs whose arguments contain this text as they are written, regardless of case. Jobs whose arguments are
    /// no longer kept do not match.
    package var argumentsContain: String?
    /// Only jobs with this tag.
    package var tag: String?
    /// Only jobs whose ``JobSummary/time`` is this one or later, in milliseconds since 1970 UTC.
    package var from: Int64?
    /// Only jobs whose ``JobSummary/time`` is earlier than this one, in milliseconds since 1970 UTC.
    package var until: Int64?
    /// Only jobs that this session is running.
    package var worker: String?

    /// Makes a filter.
    package init(
        operation: String? = nil,
        operationContains: String? = nil,
        name: String? = nil,
        nameContains: String? = nil,
        errorContains: String? = nil,
        errorPattern: String? = nil,
        argumentsContain: String? = nil,
        tag: String? = nil,
        from: Int64? = nil,
        until: Int64? = nil,
        worker: String? = nil
    ) {
        self.operation = operation
        self.operationContains = operationContains
        self.name = name
        self.nameContains = nameContains
        self.errorContains = errorContains
        self.errorPattern = errorPattern
        self.argumentsContain = argumentsContain
        self.tag = tag
        self.from = from
        self.until = until
        self.worker = worker
    }

    /// Whether the filter has no criteria.
    package var isEmpty: Bool { self == JobFilter() }

    /// Returns whether a job matches.
    package func passes(_ job: JobSummary) -> Bool {
        if let operation, job.operation != operation { return false }
        if let tag, !job.tags.contains(tag) { return false }
        if let worker, job.record.state != .running || job.worker != worker { return false }
        if let name, !(job.name.map { $0.utf8.elementsEqual(name.utf8) } ?? false) { return false }
        guard Self.contains(job.operation, operationContains), Self.contains(job.name, nameContains),
            Self.contains(job.error, errorContains)
        else { return false }
        if let errorPattern, ErrorPattern.of(job.error) != errorPattern { return false }
        return isInTime(job) && argumentsPass(job)
    }

    private func isInTime(_ job: JobSummary) -> Bool {
        if from == nil, until == nil { return true }
        guard let time = job.time else { return false }
        return time >= from ?? .min && time < until ?? .max
    }

    private func argumentsPass(_ job: JobSummary) -> Bool {
        guard let argumentsContain, !argumentsContain.isEmpty else { return true }
        let arguments = job.stored.map { String(decoding: $0.description.arguments.bytes, as: UTF8.self) }
        return Self.contains(arguments, argumentsContain)
    }

    private static func contains(_ text: String?, _ wanted: String?) -> Bool {
        guard let wanted, !wanted.isEmpty else { return true }
        return text?.range(of: wanted, options: .caseInsensitive) != nil
    }
}
