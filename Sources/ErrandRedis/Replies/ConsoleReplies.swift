package import Errand

extension JobRecord {
    /// Reads one job of the inspect script's answer; `nil` when it is anything else, or of a job nobody knows.
    package init?(_ value: RESPValue) {
        guard let parts = value.elements, parts.count == 9, let id = parts[0].text, let state = parts[1].text,
            let state = JobState(rawValue: state)
        else { return nil }
        let at = parts[5].number ?? 0
        let session = parts[6].text ?? ""
        self.init(
            id: id,
            state: state,
            body: parts[2].bytes ?? [],
            failures: Int(clamping: parts[3].number ?? 0),
            crashes: Int(clamping: parts[4].number ?? 0),
            at: at == 0 ? nil : at,
            session: session.isEmpty ? nil : session,
            lastEvent: parts[7].bytes ?? [],
            result: parts[8].bytes ?? []
        )
    }
}

extension ReviveVerdict {
    /// Reads one word of the revive script's answer; `nil` when it is none.
    package init?(_ word: RESPValue) {
        switch word.text ?? "" {
        case "revived": self = .revived
        case "not_dead": self = .notDead
        case "not_found": self = .notFound
        case let text where text.hasPrefix("taken:"): self = .nameTaken(holder: String(text.dropFirst(6)))
        default: return nil
        }
    }
}
