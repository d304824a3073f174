public import Errand

extension TestBroker {
    /// Stores a schedule.
    @discardableResult
    public func put(_ schedule: Schedule) async throws(BrokerError) -> ScheduleOutcome {
        try await memory.put(schedule)
    }

    /// A page of the schedules whose tick has come.
    public func dueSchedules(on queue: String, skipping count: Int) async throws(BrokerError) -> DueSchedules {
        try await memory.dueSchedules(on: queue, skipping: count)
    }

    /// Pushes what is proposed, if nobody was first.
    public func tick(_ proposal: TickProposal, on queue: String) async throws(BrokerError) -> TickOutcome {
        defer { gate.noteWork(in: queue) }
        return try await memory.tick(proposal, on: queue)
    }

    /// A page of a queue's schedules.
    public func schedules(on queue: String, from position: String?) async throws(BrokerError) -> SchedulePage {
        try await memory.schedules(on: queue, from: position)
    }

    /// A schedule by its name.
    public func schedule(_ name: String, on queue: String) async throws(BrokerError) -> ScheduleRecord? {
        try await memory.schedule(name, on: queue)
    }

    /// Deletes a schedule.
    public func deleteSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Bool {
        try await memory.deleteSchedule(name, on: queue)
    }

    /// Lets a schedule tick no more until it is resumed.
    public func pauseSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Bool {
        try await memory.pauseSchedule(name, on: queue)
    }

    /// Lets a paused schedule tick again.
    public func resumeSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Bool {
        try await memory.resumeSchedule(name, on: queue)
    }

    /// Pushes one job of a schedule at once.
    public func runSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Receipt? {
        defer { gate.noteWork(in: queue) }
        return try await memory.runSchedule(name, on: queue)
    }
}
