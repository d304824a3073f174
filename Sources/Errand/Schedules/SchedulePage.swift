/// A page of a queue's schedules.
public struct SchedulePage: Sendable, Equatable {
    /// The schedules, in no particular order.
    public var records: [ScheduleRecord]
    /// The position of the next page; `nil` on the last one.
    public var next: String?

    /// Makes a page of schedules.
    ///
    /// - Parameters:
    ///   - records: The schedules.
    ///   - next: The position of the next page; `nil` on the last one.
    public init(records: [ScheduleRecord], next: String?) {
        self.records = records
        self.next = next
    }
}

extension SchedulingBroker {
    /// Returns all of a queue's schedules, sorted by name: up to 10,000.
    ///
    /// - Parameter queue: The queue.
    /// - Returns: each schedule once.
    /// - Throws: ``BrokerError`` if the call fails.
    public func schedules(on queue: String) async throws(BrokerError) -> [ScheduleRecord] {
        var (records, position): ([String: ScheduleRecord], String?) = ([:], nil)
        repeat {
            let page = try await schedules(on: queue, from: position)
            // A schedule may be on two pages while others are stored.
            for record in page.records { records[record.name] = record }
            position = page.next
        } while position != nil
        return records.values.sorted { $0.name < $1.name }
    }
}
