import ErrandCommandLine

/// A message from a benchmark worker to its parent, one line on standard output.
enum BenchLine: Sendable, Equatable {
    /// A worker has registered.
    case registered
    /// A handler started, at this time of the machine's monotonic clock.
    case picked(id: String, at: Int64)
    /// The resources that the process has used since its start.
    case used(ProcessUsage)

    /// Parses a line; `nil` if it is not a message.
    init?(_ line: some StringProtocol) {
        let words = line.split(separator: " ")
        switch (words.first, words.count) {
        case ("registered", 1): self = .registered
        case ("picked", 3):
            guard let time = Int64(words[2]) else { return nil }
            self = .picked(id: String(words[1]), at: time)
        case ("used", 3):
            guard let microseconds = Int64(words[1]), let bytes = Int64(words[2]) else { return nil }
            self = .used(ProcessUsage(processorMicroseconds: microseconds, mostResidentBytes: bytes))
        default: return nil
        }
    }

    private var text: String {
        switch self {
        case .registered: "registered"
        case .picked(let id, let time): "picked \(id) \(time)"
        case .used(let usage): "used \(usage.processorMicroseconds) \(usage.mostResidentBytes)"
        }
    }

    /// Writes the message immediately.
    func write() { StandardOutput.write(text) }
}
