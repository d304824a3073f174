package import Errand

/// Stores a schedule that a person has defined.
package struct ScheduleEdit: Sendable {
    private let name: String
    private let queue: String
    private let broker: any Broker

    /// Makes an edit of one schedule.
    package init(_ name: String, on queue: String, in broker: any Broker) {
        self.name = name
        self.queue = queue
        self.broker = broker
    }

    /// Stores the definition.
    ///
    /// Without a revision it gets that of the schedule that it changes, or one that is higher than that of a deleted
    /// schedule of this name.
    ///
    /// - Parameters:
    ///   - revision: The definition's revision, if it is given.
    ///   - make: Makes the schedule with a revision.
    /// - Returns: The outcome; `outdated` only if the revision was given.
    package func put(revision: Int?, _ make: (_ revision: Int) throws -> Schedule) async throws -> ScheduleOutcome {
        let stored = try await broker.schedule(name, on: queue)?.schedule
        let origin = Schedule.Origin.person(
            edited: try await broker.now(on: queue),
            catalogue: stored?.origin.catalogue,
            removed: stored?.origin.removed
        )
        if let revision { return try await broker.put(try make(revision).from(origin)) }
        let outcome = try await broker.put(try make(stored?.revision ?? 0).from(origin))
        guard case .outdated(let higher) = outcome else { return outcome }
        return try await broker.put(try make(higher.addingReportingOverflow(1).partialValue).from(origin))
    }
}
