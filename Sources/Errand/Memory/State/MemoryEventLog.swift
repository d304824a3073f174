/// The durable stream of a queue, which lasts as long as the process.
struct MemoryEventLog: Sendable, Equatable {
    private var epoch: Int64?
    private var lastEpoch: Int64 = 0
    private var written: Int64 = 0
    /// The last events, the oldest first.
    private var lines: [[UInt8]] = []
    var cursors: [String: EventCursor] = [:]

    static let mostCursors = 1000
    private static let pageCount = 100

    mutating func append(_ line: [UInt8], keeping kept: Int, now: Int64) {
        epoch = epoch ?? max(now, lastEpoch + 1)
        lastEpoch = epoch ?? lastEpoch
        written += 1
        lines.append(line)
        // Events are removed in portions, so that not every new event moves all others.
        if lines.count > kept + kept / 8 + 16 { lines.removeFirst(lines.count - kept) }
    }

    /// Stops keeping events. Later events have no numbers, so the next numbering has another epoch.
    mutating func stop() {
        epoch = nil
        written = 0
        lines = []
    }

    func page(after cursor: EventCursor, kept: Int) -> EventPage {
        guard let epoch else { return EventPage(kept: kept, last: nil, entries: []) }
        let first = written - Int64(lines.count) + 1
        let read = cursor.epoch == epoch ? cursor.number : cursor.epoch < epoch ? 0 : written
        let unread = lines.dropFirst(Int(clamping: max(0, min(read, written) - first + 1)))
        let entries = zip(unread.indices, unread).prefix(Self.pageCount).map { index, line in
            EventPage.Entry(last: EventCursor(epoch: epoch, number: first + Int64(index)), lines: [line])
        }
        return EventPage(kept: kept, last: EventCursor(epoch: epoch, number: written), entries: entries)
    }
}

/// Reads the durable stream.
extension MemoryQueue {
    func eventPage(after cursor: EventCursor) -> EventPage { log.page(after: cursor, kept: settings.keptEvents) }

    mutating func keep(_ cursor: EventCursor, of reader: String) throws(BrokerError) {
        try checkReader(reader)
        guard log.cursors[reader] != nil || log.cursors.count < MemoryEventLog.mostCursors else {
            throw BrokerError(
                .full,
                "the queue keeps the positions of 1000 readers of its events, which is the limit; use the name of one of them"
            )
        }
        // If two processes use the same reader name, the slower one does not set the cursor back.
        if let known = log.cursors[reader], known.epoch == cursor.epoch, known.number >= cursor.number { return }
        log.cursors[reader] = cursor
    }

    func cursor(of reader: String) throws(BrokerError) -> EventCursor? {
        try checkReader(reader)
        return log.cursors[reader]
    }

    private func checkReader(_ reader: String) throws(BrokerError) {
        guard QueueName.isValid(reader) else {
            throw BrokerError(.refused, "the name of a reader must match [A-Za-z0-9_.-]{1,128}")
        }
    }
}
