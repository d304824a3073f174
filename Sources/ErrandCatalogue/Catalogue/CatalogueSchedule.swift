/// A schedule as the catalogue tells it: which operation recurs, when, and with which arguments. What of it makes sense is
/// checked by whoever makes a schedule of it; ``error(_:_:)`` says where it stands.
package struct CatalogueSchedule: Sendable {
    /// The schedule's name.
    package let name: String
    /// The operation's name; the catalogue has it.
    package let operation: String
    /// The arguments as JSON text.
    package var arguments: [UInt8] = Array("{}".utf8)
    /// The cron expression, and its time zone.
    package var cron: String?
    package var timeZone: String?
    /// The interval.
    package var every: Duration?
    /// The queue, if it says one.
    package var queue: String?
    /// The name for uniqueness, if it says one.
    package var uniqueName: String?
    /// The uniqueness policy, if it says one.
    package var uniqueness: CatalogueOperation.Uniqueness?
    /// How long a job holds its name, if it says so.
    package var uniqueUntil: CatalogueOperation.UniqueUntil?
    /// How long a run may take, if it says so.
    package var timeout: Duration?
    /// How often a failed run is tried again, if it says so.
    package var retries: Int?
    /// How long to wait before each retry, if it says so.
    package var backoff: CatalogueBackoff?
    /// The priority, if it says one.
    package var priority: Int?
    /// The word of `catch_up`.
    package var catchUp: String?
    /// How many missed ticks are caught up with.
    package var catchUpLimit: Int?
    /// The word of `overlap`.
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

    /// The catalogue's file, as it was named.
    package var source: String { place.source }

    /// An error about this schedule.
    package func error(_ key: String?, _ reason: String) -> CatalogueError {
        var error = CatalogueError(source: place.source, reason: reason)
        error.schedule = name
        error.line = key.flatMap { lines[$0] } ?? place.line
        error.key = key.flatMap { lines[$0] == nil ? nil : $0 }
        return error
    }
}
