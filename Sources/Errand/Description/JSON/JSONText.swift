#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// One JSON value as text: checked, and kept byte by byte as it was written.
///
/// Numbers keep their digits and objects the order of their keys, because the text is never taken apart and put
/// together again. It is at most 64 levels deep.
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

    /// The value `null`. (The literal `nil` does not stand for it: an optional text would swallow it, or the other way
    /// round.)
    public static let null = JSONText(unchecked: Array("null".utf8))

    /// Takes bytes that are known to be one JSON value.
    init(unchecked bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Takes JSON text as it is; white space around the value is left out.
    ///
    /// - Throws: when it is not exactly one JSON value (RFC 8259, UTF-8 without a byte order mark), or is more than 64
    ///   levels deep.
    public init(validating text: some Sequence<UInt8>) throws(JSONTextError) {
        var scanner = JSONScanner(Array(text))
        try scanner.refuseByteOrderMark()
        scanner.skipWhitespace()
        let range = try scanner.value()
        try scanner.finish()
        bytes = range.count == scanner.bytes.count ? scanner.bytes : Array(scanner.bytes[range])
    }

    /// Writes a value as JSON, keys sorted, so that equal values have equal texts.
    ///
    /// - Throws: what the value's own `encode(to:)` refuses, numbers that are not finite, and more than 64 levels.
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

    /// Reads the text as a value of a type of yours.
    ///
    /// - Throws: `DecodingError` when the text does not have that type's shape.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: Data(bytes))
    }

    /// The canonical form: keys sorted by their UTF-8 bytes, no white space, strings with the fewest escapes, numbers
    /// as written. Two texts with equal canonical forms are the same arguments.
    public var canonical: JSONText {
        var writer = JSONCanonicalWriter(bytes)
        // Every text was validated when it was made, so there is nothing left for the writer to refuse.
        guard (try? writer.write()) != nil else { return self }
        return JSONText(unchecked: writer.output)
    }
}

extension JSONText: CustomStringConvertible {
    /// The text.
    public var description: String { String(decoding: bytes, as: UTF8.self) }
}
