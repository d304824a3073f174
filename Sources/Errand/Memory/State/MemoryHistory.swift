/// The last events, errors and results of ended jobs, within the limits.
package struct MemoryHistory: Sendable, Equatable {
    package struct Record: Sendable, Equatable {
        package let at: Int64
        /// The last event, then those of the job's errors.
        package let events: [[UInt8]]
        package let result: [UInt8]
        let ending: MemoryEnding

        /// Includes a letter for the ending and a line feed, as in Redis.
        var size: Int { KeptErrors.size(of: events) + result.count + 2 }
    }

    static let mostRecords = 10_000
    static let mostBytes = 67_108_864

    private var records: [String: Record] = [:]
    /// The ids, oldest first.
    private var order = ReadyList()
    private var bytes = 0
    private var isTrimmed = true

    package init() {}

    package subscript(id: String) -> Record? { records[id] }
    package var newestFirst: [String] { order.ids.reversed() }

    mutating func keep(_ record: Record, of id: String) {
        remove(id)
        records[id] = record
        order.append(id)
        bytes += record.size
        isTrimmed = false
    }

    @discardableResult
    mutating func remove(_ id: String) -> Bool {
        guard let record = records.removeValue(forKey: id) else { return false }
        order.remove(id)
        bytes -= record.size
        isTrimmed = false
        return true
    }

    /// Drops records that are too old or beyond the limits, if anything has changed. Called at the end of a transition.
    mutating func trim(before oldest: Int64) {
        guard !isTrimmed else { return }
        while let id = order.first, let record = records[id] {
            if record.at > oldest, bytes <= Self.mostBytes, records.count <= Self.mostRecords { break }
            remove(id)
        }
        isTrimmed = true
    }
}
