/// The part of a broker that a worker needs to keep schedules.
public protocol TickingBroker: Sendable {
    /// Stores a schedule in its queue, unless a newer one is stored.
    ///
    /// A new schedule, or one whose timing has changed, ticks from now on; otherwise its next tick stays the same. A
    /// paused schedule stays paused.
    ///
    /// - Throws: ``BrokerError`` with code ``BrokerError/Code/refused`` if a newer version of Errand has stored the
    ///   schedule, and ``BrokerError/Code/full`` if the queue has 10,000 schedules.
    @discardableResult
    func put(_ schedule: Schedule) async throws(BrokerError) -> ScheduleOutcome

    /// Returns a page of the due schedules, earliest first, after skipping `count` of them.
    func dueSchedules(on queue: String, skipping count: Int) async throws(BrokerError) -> DueSchedules

    /// Pushes the jobs of a proposed tick unless another proposal was first. Each tick is thus pushed at most once,
    /// however many workers propose it.
    ///
    /// - Throws: ``BrokerError`` as a push does; the tick is not consumed then.
    func tick(_ proposal: TickProposal, on queue: String) async throws(BrokerError) -> TickOutcome
}

/// The part of a broker with which programs and the console manage schedules.
public protocol SchedulingBroker: TickingBroker {
    /// Returns a page of a queue's schedules: about 100, fewer if they are large, in no particular order.
    ///
    /// A schedule that exists all the time is on at least one page, at times on two. One that is stored or deleted
    /// meanwhile may be on a page or not. No page has a schedule twice. The cost of a page does not depend on the
    /// number of schedules.
    ///
    /// - Parameters:
    ///   - queue: The queue.
    ///   - position: ``SchedulePage/next`` of the previous page; `nil` for the first one.
    /// - Throws: ``BrokerError`` with code ``BrokerError/Code/refused`` for a position that no page has returned.
    func schedules(on queue: String, from position: String?) async throws(BrokerError) -> SchedulePage

    /// Returns a schedule by its name; `nil` if there is none.
    func schedule(_ name: String, on queue: String) async throws(BrokerError) -> ScheduleRecord?

    /// Deletes a schedule; jobs that it has pushed stay. Storing one of the same or a lower revision does not restore
    /// it.
    ///
    /// - Returns: whether the schedule existed.
    func deleteSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Bool

    /// Pauses a schedule: it does not tick until it is resumed.
    ///
    /// - Returns: whether the schedule exists.
    func pauseSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Bool

    /// Resumes a paused schedule from now on. Ticks that it missed meanwhile are not caught up.
    ///
    /// - Returns: whether the schedule exists.
    func resumeSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Bool

    /// Pushes one job of a schedule immediately, even if the schedule is paused. Its ticks do not change.
    ///
    /// - Returns: the receipt; `nil` if there is no such schedule.
    func runSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Receipt?
}
