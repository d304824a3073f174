#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One valid JSON value as text, with its bytes unchanged.
///
/// Numbers keep their digits and objects the order of their keys, because the text is never decoded and encoded again.
/// It is at most 64 levels deep.
///
/// ```swift
/// let one: JSONText = ["path": "a.jpg", "sizes": [64, 256]]
/// let two = try JSONText(encoding: Thumbnail(path: "a.jpg"))
/// let three = try JSONText(validating: #"{"path":"a.jpg"}"#.utf8)
/// let thumbnail = try three.decode(Thumbnail.self)
/// ```
public struct JSONText: Sendable, Hashable {
    /// The text in UTF-8, without white space around it.
    public let bytes: [UInt8]

    /// The object without members, `{}`.
    public static let emptyObject = JSONText(unchecked: Array("{}".utf8))

    /// The value `null`. (The literal `nil` cannot be used for it, because it would be ambiguous for an optional text.)
    public static let null = JSONText(unchecked: Array("null".utf8))

    /// Makes a text from bytes that are one valid JSON value.
    init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Makes a text from JSON, without white space around the value.
    ///
    /// - Throws: an error if the text is not exactly one JSON value (RFC 8259, UTF-8 without a byte order mark), or is
    ///   more than 64 levels deep.
    public init(validating text: some Sequence<UInt8>) throws(JSONTextError) {
        var scanner = JSONScanner(Array(text))
        try scanner.refuseByteOrderMark()
        scanner.skipWhitespace()
        let range = try scanner.value()
        try scanner.finish()
        bytes = range.count == scanner.bytes.count ? scanner.bytes : Array(scanner.bytes[range])
    }

    /// Encodes a value as JSON with sorted keys, so that equal values have equal texts.
    ///
    /// - Throws: an error if the value's `encode(to:)` throws, a number is not finite, or there are more than 64
    ///   levels.
    public init(encoding value: some Encodable) throws(JSONTextError) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data: Data
        do {
            data = try encoder.encode(value)
        } catch {
            throw JSONTextError(
                code: .notEncodable,
                offset: nil,
                message: "the value cannot be written as JSON: \(error)"
            )
        }
        try self.init(validating: data)
    }

    /// Decodes the text as a value of a type.
    ///
    /// - Throws: `DecodingError` if the text does not fit the type.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: Data(bytes))
    }

    /// The canonical form: keys sorted by their UTF-8 bytes, no white space, strings with the fewest escapes, numbers
    /// as written. Arguments are the same if their canonical forms are equal.
    public var canonical: JSONText {
        var writer = JSONCanonicalWriter(bytes)
        // Every text was validated when it was made, so the writer does not throw.
        guard (try? writer.write()) != nil else { return self }
        return JSONText(unchecked: writer.output)
    }
}

extension JSONText: CustomStringConvertible {
    /// The text.
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}
