/// The events of a job's unsuccessful runs, the newest first, within the limits.
package struct KeptErrors: Sendable, Equatable {
    static let mostEvents = 10
    static let mostBytes = 16384

    package private(set) var events: [[UInt8]] = []

    package init() {}

    /// Keeps another event and drops the oldest beyond the limits. The newest one is kept, however long it is.
    mutating func keep(_ event: [UInt8]) {
        events.insert(event, at: 0)
        while events.count > 1, events.count > Self.mostEvents || Self.size(of: events) > Self.mostBytes {
            events.removeLast()
        }
    }

    /// Returns the size of events in bytes, with one byte between two of them.
    package static func size(of events: [[UInt8]]) -> Int {
        events.reduce(max(events.count - 1, 0)) { $0 + $1.count }
    }
}
