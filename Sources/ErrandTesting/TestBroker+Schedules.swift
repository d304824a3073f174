public import Errand

extension TestBroker {
    /// Stores a schedule.
    @discardableResult
    public func put(_ schedule: Schedule) async throws(BrokerError) -> ScheduleOutcome {
        try await memory.put(schedule)
    }

    /// Returns a page of the schedules whose tick is due.
    public func dueSchedules(on queue: String, skipping count: Int) async throws(BrokerError) -> DueSchedules {
        try await memory.dueSchedules(on: queue, skipping: count)
    }

    /// Pushes the proposed jobs, unless another worker was first.
    public func tick(_ proposal: TickProposal, on queue: String) async throws(BrokerError) -> TickOutcome {
        defer { gate.noteWork(in: queue) }
        return try await memory.tick(proposal, on: queue)
    }

    /// Returns a page of a queue's schedules.
    public func schedules(on queue: String, from position: String?) async throws(BrokerError) -> SchedulePage {
        try await memory.schedules(on: queue, from: position)
    }

    /// Returns a schedule by its name; `nil` if it does not exist.
    public func schedule(_ name: String, on queue: String) async throws(BrokerError) -> ScheduleRecord? {
        try await memory.schedule(name, on: queue)
    }

    /// Deletes a schedule; returns whether it existed.
    public func deleteSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Bool {
        try await memory.deleteSchedule(name, on: queue)
    }

    /// Pauses a schedule until it is resumed; returns whether it exists.
    public func pauseSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Bool {
        try await memory.pauseSchedule(name, on: queue)
    }

    /// Resumes a paused schedule; returns whether it exists.
    public func resumeSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Bool {
        try await memory.resumeSchedule(name, on: queue)
    }

    /// Pushes one job of a schedule immediately; returns `nil` if the schedule does not exist.
    public func runSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Receipt? {
        defer { gate.noteWork(in: queue) }
        return try await memory.runSchedule(name, on: queue)
    }
}
