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
    ///
    /// - Parameters:
    ///   - field: The invalid key, or the field of a job's description or of a schedule's definition.
    ///   - reason: The problem, which follows the key.
    func error(_ field: String?, _ reason: String) -> CatalogueError {
        // A catalogue has no templates, and its durations have units: the keys of descriptions end with "_ms" instead.
        let isTemplate = field == "template"
        let key = isTemplate ? nil : field?.replacing("_ms", with: "")
        var error = CatalogueError(source: place.source, reason: isTemplate ? "its job: \(reason)" : reason)
        error.schedule = name
        error.line = key.flatMap { lines[String($0.prefix { $0 != "." })] } ?? place.line
        error.key = key
        return error
    }
}
