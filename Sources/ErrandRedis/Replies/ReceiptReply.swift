package import Errand

extension Receipt {
    /// Parses one text of the push script's reply (`a`, `e`, `d:HOLDER`, `d:HOLDER:UNTIL`, …); `nil` if it is invalid.
    package init?(_ reply: RESPValue, job: String, queue: String) {
        guard let text = reply.text, let letter = text.utf8.first else { return nil }
        // A client that can write to the broker can store any text as the holder of a name, so only a valid id counts.
        let parts = text.utf8.dropFirst(2).split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        let named = parts.first.map { String(decoding: $0, as: UTF8.self) } ?? ""
        let holder = QueueName.isValid(jobID: named) ? named : nil
        let until = parts.count == 2 ? Int64(String(decoding: parts[1], as: UTF8.self)) : nil
        guard let outcome = Self.outcome(letter) else { return nil }
        let survivor = outcome == .dropped ? holder ?? job : job
        self.init(id: survivor, queue: queue, outcome: outcome, holder: holder, until: until)
    }

    private static func outcome(_ letter: UInt8) -> Outcome? {
        switch letter {
        case UInt8(ascii: "a"): .accepted
        case UInt8(ascii: "e"): .exists
        case UInt8(ascii: "d"): .dropped
        case UInt8(ascii: "r"): .replaced
        case UInt8(ascii: "n"): .deferred
        default: nil
        }
    }
}
