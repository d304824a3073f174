extension MemoryBroker {
    /// Stores a schedule in its queue, unless a newer one is there.
    @discardableResult
    public func put(_ schedule: Schedule) async throws(BrokerError) -> ScheduleOutcome {
        try change(schedule.queue, creating: true) { queue throws(BrokerError) in try queue.put(schedule) }
    }

    /// Up to 100 schedules whose tick has come, earliest first.
    public func dueSchedules(on queue: String, skipping count: Int) async throws(BrokerError) -> DueSchedules {
        try change(queue) { $0.dueSchedules(skipping: count) }
    }

    /// Pushes what is proposed, if nobody was first.
    public func tick(_ proposal: TickProposal, on queue: String) async throws(BrokerError) -> TickOutcome {
        try change(queue) { queue throws(BrokerError) in try queue.tick(proposal) }
    }

    /// A page of a queue's schedules.
    public func schedules(on queue: String, from position: String?) async throws(BrokerError) -> SchedulePage {
        try change(queue) { $0.scheduleRecords(after: position) }
    }

    /// A schedule by its name; `nil` when there is none.
    public func schedule(_ name: String, on queue: String) async throws(BrokerError) -> ScheduleRecord? {
        let record = try change(queue) { $0.record(ofSchedule: name) }
        return record.definition.isEmpty ? nil : record
    }

    /// Deletes a schedule; one of the same or a lower revision does not bring it back.
    public func deleteSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Bool {
        try change(queue) { $0.deleteSchedule(name) }
    }

    /// Lets a schedule tick no more until it is resumed.
    public func pauseSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Bool {
        try change(queue) { $0.pauseSchedule(name) }
    }

    /// Lets a paused schedule tick again, from now on.
    public func resumeSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Bool {
        try change(queue) { queue throws(BrokerError) in try queue.resumeSchedule(name) }
    }

    /// Pushes one job of a schedule at once; the ticks stay as they are.
    public func runSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Receipt? {
        try change(queue) { queue throws(BrokerError) in try queue.runSchedule(name) }
    }
}
