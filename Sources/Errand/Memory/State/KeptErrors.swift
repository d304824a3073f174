/// The events of a job's runs that failed, timed out or killed it: the newest first, as many as the limits allow.
struct KeptErrors: Sendable {
    static let mostEvents = 10
    static let mostBytes = 16384

    private(set) var events: [[UInt8]] = []

    /// Keeps one more, and drops the oldest ones that are too many then. The newest one is kept, however long.
    mutating func keep(_ event: [UInt8]) {
        events.insert(event, at: 0)
        while events.count > 1, events.count > Self.mostEvents || Self.size(of: events) > Self.mostBytes {
            events.removeLast()
        }
    }

    /// How many bytes events take, with one between two of them.
    static func size(of events: [[UInt8]]) -> Int {
        events.reduce(max(events.count - 1, 0)) { $0 + $1.count }
    }
}
