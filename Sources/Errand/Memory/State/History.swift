/// The last events and the results of jobs that ended, as many as the limits allow.
struct History: Sendable {
    struct Record {
        let at: Int64
        let event: [UInt8]
        let result: [UInt8]
        let ending: MemoryEnding

        var size: Int { event.count + result.count + 1 }
    }

    static let mostRecords = 10_000
    static let mostBytes = 67_108_864

    private var records: [String: Record] = [:]
    /// The ids, oldest first.
    private var order = Line()
    private var bytes = 0

    subscript(id: String) -> Record? { records[id] }
    var newestFirst: [String] { order.ids.reversed() }

    mutating func keep(_ record: Record, of id: String, for milliseconds: Int64) {
        remove(id)
        records[id] = record
        order.append(id)
        bytes += record.size
        trim(before: record.at - milliseconds)
    }

    @discardableResult
    mutating func remove(_ id: String) -> Bool {
        guard let record = records.removeValue(forKey: id) else { return false }
        order.remove(id)
        bytes -= record.size
        return true
    }

    private mutating func trim(before oldest: Int64) {
        while let id = order.first, let record = records[id] {
            if record.at > oldest, bytes <= Self.mostBytes, records.count <= Self.mostRecords { return }
            remove(id)
        }
    }
}
