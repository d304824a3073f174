/// Why bytes are not a JSON text that Errand accepts.
public struct JSONTextError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kinds of faults a JSON text can have.
    public enum Code: String, Sendable {
        /// Not JSON as RFC 8259 defines it, or not UTF-8.
        case malformed
        /// More than 64 nested arrays and objects.
        case tooDeep = "too_deep"
        /// A Swift value that cannot be written as JSON, such as a number that is not finite.
        case notEncodable = "not_encodable"
    }

    /// What kind of fault it is.
    public let code: Code
    /// Where it is, in bytes from the beginning of the text; nil when there is no text yet.
    public let offset: Int?
    /// What is wrong, for people, without the offset.
    public let message: String

    /// The message with its place.
    public var description: String {
        let place = offset.map { " at byte \($0)" } ?? ""
        return "JSON refused\(place): \(message)"
    }
}
