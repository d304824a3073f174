package import Errand

/// The timetable script's reply: a page of a queue's schedules, and the server's time.
package struct TimetablePage: Sendable, Equatable {
    /// The server's time, in milliseconds since 1970 UTC.
    package let now: Int64
    /// The position of the next page; `nil` if this is the last one.
    package let next: String?
    /// The schedules.
    package let records: [ScheduleRecord]

    /// Parses a reply; `nil` if it is invalid.
    package init?(_ reply: RESPValue) {
        guard let parts = reply.elements, parts.count >= 2, (parts.count - 2) % 5 == 0, let now = parts[0].number,
            now >= 0,
            let next = parts[1].text
        else { return nil }
        self.now = now
        self.next = next == "-1" ? nil : next
        let starts = stride(from: 2, to: parts.count, by: 5)
        records = starts.compactMap { start in ScheduleRecord(parts[start..<start + 5]) }
        guard records.count == (parts.count - 2) / 5 else { return nil }
    }
}

extension ScheduleRecord {
    fileprivate init?(_ parts: ArraySlice<RESPValue>) {
        let parts = Array(parts)
        guard let name = parts[0].text, let definition = parts[1].bytes else { return nil }
        let counts = (parts[3].text ?? "").split(separator: ":", omittingEmptySubsequences: false)
        func count(_ index: Int) -> Int64? { counts.count == 3 ? Int64(counts[index]).map { max(0, $0) } : nil }
        let deletion = (parts[4].text ?? "").split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        self.init(
            name: name,
            definition: definition,
            nextTick: parts[2].number,
            isPaused: parts[2].text == "paused",
            lastTick: count(0),
            pushed: Int(clamping: count(1) ?? 0),
            missed: Int(clamping: count(2) ?? 0),
            deletedRevision: deletion.first.flatMap { Int64($0) }.map { Int(clamping: $0) },
            rejectedDeclaration: RejectedDeclaration(deletion)
        )
    }
}

extension ScheduleRecord.RejectedDeclaration {
    /// Parses the text after the revision of a deleted schedule; `nil` if there is none.
    fileprivate init?(_ parts: [Substring]) {
        guard parts.count == 3, let at = Int64(parts[1]), at >= 0 else { return nil }
        self.init(at: at, catalogue: parts[2].isEmpty ? nil : String(parts[2]))
    }
}
