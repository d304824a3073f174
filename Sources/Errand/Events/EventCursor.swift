/// A position in the durable stream of a queue's events: that of the last event that was read.
///
/// A cursor is a text of two numbers, such as `1795215724000-42`. Store it together with whatever you derive from the
/// events, and continue from there after a restart.
public struct EventCursor: Sendable, Hashable, LosslessStringConvertible {
    /// When the numbering began, in milliseconds since 1970 UTC. A different value means that the broker has lost the
    /// old numbering.
    package let epoch: Int64
    /// The number of the event, from 1, without gaps.
    package let number: Int64

    package init(epoch: Int64, number: Int64) {
        self.epoch = epoch
        self.number = number
    }

    /// The position before everything that the broker has kept.
    public static let oldest = EventCursor(epoch: 0, number: 0)

    /// Reads a cursor's text; `nil` if it is invalid.
    public init?(_ description: String) {
        let parts = description.split(separator: "-", omittingEmptySubsequences: false).map {
            decimal(Array($0.utf8)[...])
        }
        guard parts.count == 2, let epoch = parts[0], let number = parts[1] else { return nil }
        self.init(epoch: epoch, number: number)
    }

    /// The cursor as text.
    public var description: String { "\(epoch)-\(number)" }
}
