/// A schedule of the catalogue: which operation recurs, when, and with which arguments. The code that makes a schedule
/// of it validates the values; ``error(_:_:)`` adds their position.
package struct CatalogueSchedule: Sendable {
    /// The schedule's name.
    package let name: String
    /// The operation's name, which is in the catalogue.
    package let operation: String
    /// The arguments as JSON text.
    package var arguments: [UInt8] = Array("{}".utf8)
    /// The cron expression and its time zone.
    package var cron: String?
    package var timeZone: String?
    /// The interval.
    package var every: Duration?
    /// The queue, if specified.
    package var queue: String?
    /// The unique name, if specified.
    package var uniqueName: String?
    /// The uniqueness policy, if specified.
    package var uniqueness: CatalogueOperation.Uniqueness?
    /// How long a job holds its name, if specified.
    package var uniqueUntil: CatalogueOperation.UniqueUntil?
    /// The timeout of a run, if specified.
    package var timeout: Duration?
    /// How often a failed run is retried, if specified.
    package var retries: Int?
    /// The waits before retries, if specified.
    package var backoff: CatalogueBackoff?
    /// The priority, if specified.
    package var priority: Int?
    /// The value of `catch_up`.
    package var catchUp: String?
    /// How many missed ticks are caught up.
    package var catchUpLimit: Int?
    /// The value of `overlap`.
    package var overlap: String?
    /// The revision, from 0.
    package var revision: Int?

    private let place: CatalogueError
    private let lines: [String: Int]

    init(name: String, operation: String, place: CatalogueError, lines: [String: Int]) {
        self.name = name
        self.operation = operation
        self.place = place
        self.lines = lines
    }

    /// The catalogue's file, by the path that was passed.
    package var source: String { place.source }

    /// Returns an error about this schedule.
    package func error(_ key: String?, _ reason: String) -> CatalogueError {
        var error = CatalogueError(source: place.source, reason: reason)
        error.schedule = name
        error.line = key.flatMap { lines[$0] } ?? place.line
        error.key = key.flatMap { lines[$0] == nil ? nil : $0 }
        return error
    }
}
