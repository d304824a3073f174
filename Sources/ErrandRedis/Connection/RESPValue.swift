/// A reply from the server.
package enum RESPValue: Sendable, Equatable {
    /// A status such as `OK`.
    case status(String)
    /// An error, which begins with its kind.
    case error(String)
    /// A number.
    case integer(Int64)
    /// Bytes.
    case bulk([UInt8])
    /// No value.
    case null
    /// Several values.
    case array([RESPValue])

    /// The value as a number, even if it came as text.
    package var number: Int64? {
        switch self {
        case .integer(let number): number
        case .bulk, .status: text.flatMap { Int64($0) }
        default: nil
        }
    }

    /// The value as bytes; `nil` if it is neither a text nor a status.
    package var bytes: [UInt8]? {
        switch self {
        case .bulk(let bytes): bytes
        case .status(let text): Array(text.utf8)
        default: nil
        }
    }

    /// The value as text; bytes that are not UTF-8 are replaced.
    package var text: String? {
        switch self {
        case .bulk(let bytes): String(decoding: bytes, as: UTF8.self)
        case .status(let text): text
        case .integer(let number): String(number)
        default: nil
        }
    }

    /// The value's elements; `nil` if it is not an array.
    package var elements: [RESPValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }
}
