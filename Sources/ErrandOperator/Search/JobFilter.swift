import Errand
import Foundation

/// Which jobs an operator wants to see. What is not asked for is not looked at.
package struct JobFilter: Sendable, Equatable {
    /// Only jobs of this operation.
    package var operation: String?
    /// Only jobs of this name, compared byte by byte.
    package var name: String?
    /// Only jobs whose name contains this, whatever the case of letters.
    package var nameContains: String?
    /// Only jobs whose last error contains this, whatever the case of letters.
    package var errorContains: String?
    /// Only jobs with a time (``JobSummary/time``) that is not before this one, in milliseconds since 1970 UTC.
    package var from: Int64?
    /// Only jobs with a time that is before this one, in milliseconds since 1970 UTC.
    package var until: Int64?
    /// Only jobs that run, and that this session runs.
    package var worker: String?

    /// Makes a filter.
    package init(
        operation: String? = nil,
        name: String? = nil,
        nameContains: String? = nil,
        errorContains: String? = nil,
        from: Int64? = nil,
        until: Int64? = nil,
        worker: String? = nil
    ) {
        self.operation = operation
        self.name = name
        self.nameContains = nameContains
        self.errorContains = errorContains
        self.from = from
        self.until = until
        self.worker = worker
    }

    /// Whether every job passes.
    package var isEmpty: Bool { self == JobFilter() }

    /// Whether a job passes.
    package func passes(_ job: JobSummary) -> Bool {
        if let operation, job.operation != operation { return false }
        if let worker, job.record.state != .running || job.worker != worker { return false }
        if let name, !(job.name.map { $0.utf8.elementsEqual(name.utf8) } ?? false) { return false }
        guard Self.contains(job.name, nameContains), Self.contains(job.error, errorContains) else { return false }
        if from == nil, until == nil { return true }
        guard let time = job.time else { return false }
        return time >= from ?? .min && time < until ?? .max
    }

    private static func contains(_ text: String?, _ wanted: String?) -> Bool {
        guard let wanted, !wanted.isEmpty else { return true }
        return text?.range(of: wanted, options: .caseInsensitive) != nil
    }
}
