/// Some of a queue's schedules, and where the next ones begin.
public struct SchedulePage: Sendable, Equatable {
    /// Schedules, in no order.
    public var records: [ScheduleRecord]
    /// What to ask with for the next page; `nil` when this was the last one.
    public var next: String?

    /// Makes a page of schedules.
    ///
    /// - Parameters:
    ///   - records: The schedules.
    ///   - next: What to ask with for the next page; `nil` when this was the last one.
    public init(records: [ScheduleRecord], next: String?) {
        self.records = records
        self.next = next
    }
}

extension SchedulingBroker {
    /// A queue's schedules, sorted by name: all pages of them, so up to 10,000.
    ///
    /// - Parameter queue: The queue.
    /// - Returns: each schedule once.
    /// - Throws: ``BrokerError`` when the broker cannot be asked.
    public func schedules(on queue: String) async throws(BrokerError) -> [ScheduleRecord] {
        var (records, position): ([String: ScheduleRecord], String?) = ([:], nil)
        repeat {
            let page = try await schedules(on: queue, from: position)
            // One may come twice while others are stored.
            for record in page.records { records[record.name] = record }
            position = page.next
        } while position != nil
        return records.values.sorted { $0.name < $1.name }
    }
}
