/// What a worker needs of a broker to keep schedules.
public protocol TickingBroker: Sendable {
    /// Stores a schedule in its queue, unless a newer one is there.
    ///
    /// A new schedule ticks from now on. One whose timing changes does so too; otherwise the next tick stays. A paused
    /// one stays paused.
    ///
    /// - Throws: ``BrokerError`` with code ``BrokerError/Code/refused`` when a newer version of Errand has stored it, and
    ///   ``BrokerError/Code/full`` when the queue has 10,000 schedules.
    @discardableResult
    func put(_ schedule: Schedule) async throws(BrokerError) -> ScheduleOutcome

    /// A page of the schedules whose tick has come, earliest first, after leaving out so many.
    func dueSchedules(on queue: String, skipping count: Int) async throws(BrokerError) -> DueSchedules

    /// Pushes what is proposed, if nobody was first: so each tick is pushed exactly once, whoever proposes it and
    /// however often.
    ///
    /// - Throws: ``BrokerError`` as a push does; the tick is not consumed then.
    func tick(_ proposal: TickProposal, on queue: String) async throws(BrokerError) -> TickOutcome
}

/// What programs and the console need of a broker to look after schedules.
public protocol SchedulingBroker: TickingBroker {
    /// A page of a queue's schedules, about 100, fewer of large ones, in no order.
    ///
    /// A schedule that is there all the while is on one of the pages, at times on two; one that is stored or deleted
    /// meanwhile may be on one or not. No page names a schedule twice. What a page costs does not depend on how many
    /// schedules there are.
    ///
    /// - Parameters:
    ///   - queue: The queue.
    ///   - position: ``SchedulePage/next`` of the page before; `nil` for the first one.
    /// - Throws: ``BrokerError`` with code ``BrokerError/Code/refused`` for a position that no page has answered.
    func schedules(on queue: String, from position: String?) async throws(BrokerError) -> SchedulePage

    /// A schedule by its name; `nil` when there is none.
    func schedule(_ name: String, on queue: String) async throws(BrokerError) -> ScheduleRecord?

    /// Deletes a schedule; jobs that it has pushed stay. One of the same or a lower revision does not bring it back.
    ///
    /// - Returns: whether there was one.
    func deleteSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Bool

    /// Lets a schedule tick no more until it is resumed.
    ///
    /// - Returns: whether there is one.
    func pauseSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Bool

    /// Lets a paused schedule tick again, from now on: what it would have pushed meanwhile is not made up for.
    ///
    /// - Returns: whether there is one.
    func resumeSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Bool

    /// Pushes one job of a schedule at once, also of a paused one; the ticks stay as they are.
    ///
    /// - Returns: the receipt; `nil` when there is no such schedule.
    func runSchedule(_ name: String, on queue: String) async throws(BrokerError) -> Receipt?
}
