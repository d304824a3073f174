package import Errand
import Foundation

extension Catalogue {
    /// Returns the catalogue's schedules, completed with the defaults of their operations.
    ///
    /// The worker that runs the jobs provides the timeout, the retries and the backoff that a schedule omits.
    ///
    /// - Throws: ``CatalogueError`` with file, line, schedule and key.
    package func makeSchedules() throws(CatalogueError) -> [Schedule] {
        try schedules.map { schedule throws(CatalogueError) in
            let origin = Schedule.Origin.catalogue(file: Self.path(of: schedule.place.source))
            return try schedule.make(operations[schedule.operation]).from(origin)
        }
    }

    /// Returns the absolute path of a catalogue's file, which the broker stores as the origin of schedules.
    package static func path(of file: String) -> String { URL(fileURLWithPath: file).standardizedFileURL.path }
}

extension CatalogueSchedule {
    fileprivate func make(_ operation: CatalogueOperation?) throws(CatalogueError) -> Schedule {
        do {
            return try Schedule(
                name,
                try timing(),
                pushing: try template(operation),
                catchUp: try Schedule.CatchUp(word: catchUp ?? "latest", limit: catchUpLimit),
                overlap: overlap ?? .allow,
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

    private func timing() throws(ScheduleError) -> ScheduleTiming {
        if let cron { return try .cron(cron, timeZone: timeZone ?? "UTC") }
        return try .every(every ?? .zero)
    }

    /// Makes the description of the jobs. An overlap policy determines their uniqueness, so that of the operation is
    /// ignored.
    private func template(_ operation: CatalogueOperation?) throws -> OperationDescription {
        let usual = operation?.values
        let isOwn = overlap ?? .allow == .allow
        return try OperationDescription(
            self.operation,
            arguments: arguments,
            queue: values.queue ?? usual?.queue,
            name: uniqueName ?? (isOwn ? try jobName(operation) : nil),
            unique: values.uniqueness ?? (isOwn ? usual?.uniqueness : nil),
            // The operation's `unique_until` and window belong to its own policy.
            uniqueUntil: values.uniqueUntil ?? (isOwn && values.uniqueness == nil ? usual?.uniqueUntil : nil),
            window: values.window ?? (isOwn && values.uniqueness == nil ? usual?.window : nil),
            atMost: values.atMost ?? (isOwn && values.uniqueness == nil ? usual?.atMost : nil),
            timeout: values.timeout,
            expiresIn: values.expiresIn ?? usual?.expiresIn,
            retries: values.retries,
            backoff: values.backoff,
            priority: values.priority ?? usual?.priority,
            group: try jobGroup(operation),
            cost: values.cost ?? usual?.cost
        )
    }

    private func jobName(_ operation: CatalogueOperation?) throws(CatalogueError) -> String? {
        do throws(ArgumentError) { return try operation?.jobName(arguments) } catch {
            throw self.error("arguments", "\(error); change \"arguments\", or give the schedule a \"name\"")
        }
    }

    private func jobGroup(_ operation: CatalogueOperation?) throws(CatalogueError) -> String? {
        do throws(ArgumentError) { return try operation?.jobGroup(arguments) } catch {
            throw self.error("arguments", "\(error); change \"arguments\"")
        }
    }
}
