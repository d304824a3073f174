/// The error for stored data of a job that cannot be read.
public struct EnvelopeError: Error, Sendable, Equatable {
    /// The parts of a stored job.
    public enum Part: String, Sendable {
        /// The 13 digits at the beginning.
        case time
        /// The line that scripts read.
        case header
        /// The operation, name and tags for events.
        case fragment
        /// The JSON text.
        case description
    }

    /// The part that cannot be read.
    public let part: Part
    /// What is wrong, for people.
    public let message: String
    /// The error of the JSON text, if that is the cause.
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
