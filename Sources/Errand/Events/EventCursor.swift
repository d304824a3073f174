/// A place in the durable stream of a queue's events: the event that was read last.
///
/// A cursor is a text of two numbers, such as `1795215724000-42`: keep it wherever you keep what you made of the events, and go on
/// from there after a restart.
public struct EventCursor: Sendable, Hashable, LosslessStringConvertible {
    /// When the numbering began, in milliseconds since 1970 UTC: another one means that the broker has lost the old one.
    package let epoch: Int64
    /// The number of the event, from 1, without holes.
    package let number: Int64

    package init(epoch: Int64, number: Int64) {
        self.epoch = epoch
        self.number = number
    }

    /// Before everything that the broker has kept.
    public static let oldest = EventCursor(epoch: 0, number: 0)

    /// Reads a cursor's text; `nil` when it is none.
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
