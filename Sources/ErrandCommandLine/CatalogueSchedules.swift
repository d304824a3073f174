package import Errand
package import ErrandCatalogue
import Foundation

extension Catalogue {
    /// Returns the catalogue's schedules, completed with the defaults of their operations.
    ///
    /// The worker that runs the jobs provides the timeout, the retries and the backoff that a schedule omits.
    ///
    /// - Throws: ``CommandFailure`` with status 78 and with file, line, schedule and key.
    package func makeSchedules() throws(CommandFailure) -> [Schedule] {
        var made: [Schedule] = []
        for schedule in schedules {
            do throws(CatalogueError) {
                let origin = Schedule.Origin.catalogue(file: Self.path(of: schedule.source))
                made.append(try schedule.make(operations[schedule.operation]).from(origin))
            } catch {
                throw CommandFailure("\(error)", ExitStatus.badConfiguration)
            }
        }
        return made
    }

    /// Returns the absolute path of a catalogue's file, which the broker stores as the origin of schedules.
    package static func path(of file: String) -> String { URL(fileURLWithPath: file).standardizedFileURL.path }
}

extension CatalogueSchedule {
    fileprivate func make(_ operation: CatalogueOperation?) throws(CatalogueError) -> Schedule {
        let overlap = try overlapPolicy()
        do {
            return try Schedule(
                name,
                try timing(),
                pushing: try template(operation, overlap),
                catchUp: try Schedule.CatchUp(word: catchUp ?? "latest", limit: catchUpLimit),
                overlap: overlap,
                revision: revision ?? 0
            )
        } catch let error as ScheduleError {
            throw self.error(error.field, error.message)
        } catch let error as DescriptionError {
            throw self.error(error.field, error.message)
        } catch let error as CatalogueError {
            throw error
        } catch {
            throw self.error(nil, "\(error)")
        }
    }

    private func overlapPolicy() throws(CatalogueError) -> Schedule.Overlap {
        guard let overlap else { return .allow }
        guard let policy = Schedule.Overlap(rawValue: overlap) else {
            throw error("overlap", "\"\(overlap)\" is not known; write allow, skip, after or replace")
        }
        return policy
    }

    private func timing() throws(ScheduleError) -> ScheduleTiming {
        if let cron { return try .cron(cron, timeZone: timeZone ?? "UTC") }
        return try .every(every ?? .zero)
    }

    /// Makes the description of the jobs. An overlap policy determines their uniqueness, so that of the operation is
    /// ignored.
    private func template(
        _ operation: CatalogueOperation?,
        _ overlap: Schedule.Overlap
    ) throws -> OperationDescription {
        let arguments = try JSONText(validating: arguments)
        let isOwn = overlap == .allow
        let policy = uniqueness ?? (isOwn ? operation?.uniqueness : nil)
        // The operation's `unique_until` belongs to its own policy.
        let until = uniqueUntil ?? (isOwn && uniqueness == nil ? operation?.uniqueUntil : nil)
        return try OperationDescription(
            self.operation,
            arguments: arguments,
            queue: queue ?? operation?.queue,
            name: uniqueName ?? (isOwn ? try name(operation, arguments) : nil),
            unique: policy.flatMap { UniquenessPolicy(rawValue: $0.rawValue) },
            uniqueUntil: until.flatMap { UniqueUntil(rawValue: $0.rawValue) },
            timeout: timeout,
            retries: retries,
            backoff: backoff?.delays,
            priority: priority ?? operation?.priority
        )
    }

    private func name(_ operation: CatalogueOperation?, _ arguments: JSONText) throws(CatalogueError) -> String? {
        do throws(ArgumentError) {
            return try operation?.nameTemplate.map { template throws(ArgumentError) in
                try template.render(json: arguments.bytes)
            }
        } catch {
            throw self.error("arguments", "the operation's name cannot be filled in: \(error)")
        }
    }
}
