import Errand

/// A schedule of the catalogue: which operation recurs, when, and with which arguments. ``Catalogue/makeSchedules()``
/// validates the values; ``error(_:_:)`` adds their position.
package struct CatalogueSchedule: Sendable {
    /// The schedule's name.
    package let name: String
    /// The operation's name, which is in the catalogue.
    package let operation: String
    /// The arguments.
    let arguments: JSONText
    /// The cron expression and its time zone.
    let cron: String?
    let timeZone: String?
    /// The interval.
    let every: Duration?
    /// The unique name, if specified.
    let uniqueName: String?
    /// What the schedule sets for its jobs.
    package let values: JobValues
    /// The value of `catch_up`.
    let catchUp: String?
    /// How many missed ticks are caught up.
    let catchUpLimit: Int?
    /// What to do if the job of an earlier tick has not ended.
    let overlap: Schedule.Overlap?
    /// The revision, from 0.
    let revision: Int?
    /// An error about the whole schedule.
    let place: CatalogueError
    /// The lines of the keys.
    let lines: [String: Int]

    /// Returns an error about this schedule.
    func error(_ key: String?, _ reason: String) -> CatalogueError {
        var error = CatalogueError(source: place.source, reason: reason)
        error.schedule = name
        error.line = key.flatMap { lines[$0] } ?? place.line
        error.key = key.flatMap { lines[$0] == nil ? nil : $0 }
        return error
    }
}
