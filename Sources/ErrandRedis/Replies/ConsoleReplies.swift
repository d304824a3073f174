package import Errand

extension JobRecord {
    /// Parses one job of the inspect script's reply; `nil` if it is invalid, or the job is unknown.
    package init?(_ value: RESPValue, in queue: String) {
        guard let parts = value.elements, parts.count == 13, let id = parts[0].text, let state = parts[1].text,
            let state = JobState(rawValue: state)
        else { return nil }
        let at = parts[5].number ?? 0
        let session = parts[6].text ?? ""
        let claimed = parts[10].number ?? 0
        self.init(
            id: id,
            state: state,
            body: parts[2].bytes ?? [],
            failures: Int(clamping: parts[3].number ?? 0),
            crashes: Int(clamping: parts[4].number ?? 0),
            at: at == 0 ? nil : at,
            session: session.isEmpty ? nil : session,
            claimedAt: claimed == 0 ? nil : claimed,
            events: (parts[7].bytes ?? []).split(separator: UInt8(ascii: "\t")).map(Array.init),
            result: parts[8].bytes ?? [],
            progress: JobProgress(json: parts[9].bytes ?? []),
            workflows: (parts[11].text ?? "").split(separator: " ").compactMap { Self.workflow(of: $0, in: queue) }
        )
    }

    /// Parses a place: the workflow's token, the job's number, and the workflow's queue if it is another one.
    private static func workflow(of place: Substring, in queue: String) -> WorkflowID? {
        let parts = place.split(separator: ":", maxSplits: 2)
        guard parts.count >= 2 else { return nil }
        return WorkflowID("\(parts.count == 3 ? String(parts[2]) : queue):\(parts[0])")
    }
}

extension JobPage {
    /// Parses the inspect script's reply to a page; `nil` if it is invalid. Invalid jobs are omitted.
    package init?(_ value: RESPValue, in queue: String) {
        guard let answer = value.elements, let next = answer.first?.number else { return nil }
        let entries = answer.dropFirst().compactMap { value in
            JobRecord(value, in: queue).map { ($0, value.elements?.last?.number ?? 0) }
        }
        self.init(
            jobs: entries.map(\.0),
            positions: entries.map { max(0, Int(clamping: $0.1)) },
            next: next < 0 ? nil : Int(clamping: next)
        )
    }
}

extension RetryOutcome {
    /// Parses one word of the retry script's reply; `nil` if it is invalid.
    package init?(_ word: RESPValue) {
        switch word.text ?? "" {
        case "retried": self = .retried
        case "hurried": self = .hurried
        case "not_dead": self = .notDead
        case "not_found": self = .notFound
        case let text where text.hasPrefix("taken:"): self = .nameTaken(holder: String(text.dropFirst(6)))
        default: return nil
        }
    }
}
