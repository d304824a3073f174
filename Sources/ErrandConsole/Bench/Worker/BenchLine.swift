import ErrandCommandLine

/// What a worker of the benchmark tells its parent, one line each on standard output.
enum BenchLine: Sendable, Equatable {
    /// A worker is ready.
    case registered
    /// A handler began, at this time of the clock that all processes of the machine share.
    case picked(id: String, at: Int64)
    /// What the process has used since its start.
    case used(ProcessUsage)

    /// Reads a line; `nil` when it is none of these.
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

    /// Writes the line at once.
    func write() { StandardOutput.write(text) }
}
