import Errand

/// What an operator sees of a queue: its counts, its sessions, and what is known of each job.
struct ConsoleView: Equatable {
    var status: QueueStatus
    var sessions: [SessionStatus]
    var records: [JobRecord?]

    init(_ status: QueueStatus, _ sessions: [SessionStatus], _ records: [JobRecord?]) {
        self.status = status
        // Only the totals that the contract names.
        let names = QueueStatus.Totals.names
        self.status.totals = .init(counts: Dictionary(uniqueKeysWithValues: names.map { ($0, status.totals[$0]) }))
        self.sessions = sessions.sorted { $0.id < $1.id }
        self.records = records
    }

    /// What is to be seen at a time, in which nothing has happened since the last transition.
    init(_ queue: MemoryQueue, _ universe: Universe, at time: Time) {
        var queue = queue
        queue.beginTransition(at: time)
        self.init(queue.status, queue.sessionStatuses, universe.ids.map { queue.record(of: $0) })
    }

    /// What is wrong with a broker's view, or `nil`. Behind many tombstones the age of the oldest job is not looked for, and
    /// nobody knows which of the lines of unknown operations they are in.
    func difference(from queue: ConsoleView, tombstones: Bool = false) -> String? {
        var (seen, expected) = (self, queue)
        if tombstones {
            seen.status.oldestReadyMilliseconds = expected.status.oldestReadyMilliseconds
            seen.status.oldestUnroutableMilliseconds = expected.status.oldestUnroutableMilliseconds
            seen.status.unknownOperations = expected.status.unknownOperations
        }
        seen.records = []
        expected.records = []
        if seen != expected { return "shows \(seen)\n memory \(expected)" }
        for (seen, expected) in zip(records, queue.records) where seen != expected {
            return "shows \(Self.words(seen))\n memory \(Self.words(expected))"
        }
        return records.count == queue.records.count ? nil : "shows \(records.count) records"
    }

    private static func words(_ record: JobRecord?) -> String {
        guard let record else { return "nothing" }
        let events = record.events.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
        let times = "\(record.failures) \(record.crashes) \(record.at.map(String.init) ?? "-")"
        return
            "\(record.id) \(record.state) \(times) \(record.session ?? "-") \(record.body.count) \(record.result.count) \(events)"
    }
}
