import ErrandText

/// The error for bytes that are not a valid JSON text.
public struct JSONTextError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of errors.
    public enum Code: String, Sendable {
        /// The text is not valid JSON (RFC 8259) or not UTF-8.
        case malformed
        /// There are more than 64 levels of nested arrays and objects.
        case tooDeep = "too_deep"
        /// A Swift value cannot be encoded as JSON, for instance because a number is not finite.
        case notEncodable = "not_encodable"
    }

    /// The kind of error.
    public let code: Code
    /// The offset in bytes from the beginning of the text; `nil` if there is no text yet.
    public let offset: Int?
    /// What is wrong, for people, without the offset.
    public let message: String

    /// The message with its offset.
    public var description: String {
        let place = offset.map { " at byte \($0)" } ?? ""
        return "invalid JSON\(place): \(message)"
    }

    /// Says what is wrong with a job's arguments, with the position as editors show it.
    ///
    /// - Parameter text: The arguments' text.
    package func explanation(inArguments text: [UInt8]) -> String {
        let place = offset.map { "\(TextPosition.words(of: $0, in: text)): " } ?? ""
        return "the arguments are \(code == .malformed ? "not JSON" : "not allowed") (\(place)\(message))"
    }
}
