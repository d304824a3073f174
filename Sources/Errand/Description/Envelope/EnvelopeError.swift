/// Why what the broker has stored of a job cannot be run.
public struct EnvelopeError: Error, Sendable, Equatable {
    /// The parts of a stored job.
    public enum Part: String, Sendable {
        /// The 13 digits in front.
        case time
        /// The line that scripts read.
        case header
        /// Operation and name for events.
        case fragment
        /// The JSON text.
        case description
    }

    /// Which part cannot be read.
    public let part: Part
    /// What is wrong with it, for people.
    public let message: String
    /// What is wrong with the JSON text, when it is that.
    public let cause: DescriptionError?

    init(_ part: Part, _ message: String, cause: DescriptionError? = nil) {
        self.part = part
        self.message = message
        self.cause = cause
    }

    init(_ cause: DescriptionError) {
        self.init(.description, cause.description, cause: cause)
    }
}

extension EnvelopeError: CustomStringConvertible {
    /// The part and the message.
    public var description: String { "stored job cannot be read (\(part.rawValue)): \(message)" }
}
