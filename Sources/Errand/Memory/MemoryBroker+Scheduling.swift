extension MemoryBroker {
    /// Stores a schedule in its queue, unless a newer one is stored.
    @discardableResult
    public func put(_ schedule: Schedule) async throws(BrokerError) -> ScheduleOutcome {
        try change(schedule.queue, creating: true) { queue throws(BrokerError) in try queue.put(schedule) }
    }

    /// Returns up to 100 due schedules, earliest first.
    public func dueSchedules(on queue: String, skipping count: Int) async throws(BrokerError) -> DueSchedules {
        try change(queue) { $0.dueSchedules(skipping: count) }
    }

    /// Pushes the jobs of a proposed tick unless another proposal was first.
    public func tick(_ proposal: TickProposal, on queue: String) async throws(BrokerError) -> TickOutcome {
        try change(queue) { queue throws(BrokerError) in try queue.tick(proposal) }
    }

    /// Returns a page of a queue's schedules.
    public func schedules(on queue: String, from position: String?) async throws(BrokerError) -> SchedulePage {
        try change(queue) { $0.scheduleRecords(after: position) }
    }

    /// Returns a schedule by its name; `nil` if there is none.
    public func schedule(_ name: String, on queue: String) async throws(BrokerError) -> ScheduleRecord? {
        let record = try change(queue) { $0.record(ofSchedule: name) }
        return record.definition.isEmpty ? nil : record
    }

    /// Deletes a schedule. Storing one of the same or a lower revision does not restore it.
    public func deleteSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Bool {
        try change(queue) { $0.deleteSchedule(name) }
    }

    /// Pauses a schedule: it does not tick until it is resumed.
    public func pauseSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Bool {
        try change(queue) { $0.pauseSchedule(name) }
    }

    /// Resumes a paused schedule from now on.
    public func resumeSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Bool {
        try change(queue) { queue throws(BrokerError) in try queue.resumeSchedule(name) }
    }

    /// Pushes one job of a schedule immediately; its ticks do not change.
    public func runSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Receipt? {
        try change(queue) { queue throws(BrokerError) in try queue.runSchedule(name) }
    }
}
