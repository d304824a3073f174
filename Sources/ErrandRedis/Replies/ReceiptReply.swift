package import Errand

extension Receipt {
    /// Parses one text of the push script's reply (`a`, `e`, `d:HOLDER`, …); `nil` if it is invalid.
    package init?(_ reply: RESPValue, job: String, queue: String) {
        guard let text = reply.text, let letter = text.utf8.first else { return nil }
        // A client that can write to the broker can store any text as the holder of a name, so only a valid id counts.
        let named = String(decoding: text.utf8.dropFirst(2), as: UTF8.self)
        let holder = QueueName.isValid(jobID: named) ? named : nil
        switch letter {
        case UInt8(ascii: "a"): self.init(id: job, queue: queue, outcome: .accepted)
        case UInt8(ascii: "e"): self.init(id: job, queue: queue, outcome: .exists)
        case UInt8(ascii: "d"): self.init(id: holder ?? job, queue: queue, outcome: .dropped, holder: holder)
        case UInt8(ascii: "r"): self.init(id: job, queue: queue, outcome: .replaced, holder: holder)
        case UInt8(ascii: "n"): self.init(id: job, queue: queue, outcome: .deferred, holder: holder)
        default: return nil
        }
    }
}
