/// One message of a queue's channel: one or more events, each a line of JSON.
public struct QueueEvents: Sendable, Equatable {
    /// The queue.
    public let queue: String
    /// The lines, without line feeds.
    public let lines: [[UInt8]]

    /// Splits a message into its lines and omits empty ones.
    public init(queue: String, message: [UInt8]) {
        self.queue = queue
        self.lines = message.split(separator: UInt8(ascii: "\n")).map(Array.init)
    }
}
