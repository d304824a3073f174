import ErrandText

/// The error for an invalid operation description: what is wrong, where, and what is expected.
///
/// ```swift
/// do {
///     _ = try OperationDescription(json: #"{"operation":"thumbnail","priority":12}"#)
/// } catch {
///     print(error)  // invalid operation description: "priority" at byte 36: must be a whole number from 0 to 9, …
/// }
/// ```
public struct DescriptionError: Error, Sendable, Equatable {
    /// The kind of error; stable, for programs.
    public let code: Code
    /// The invalid key of the description, if there is one.
    public let field: String?
    /// The offset of the error in bytes from the beginning of the JSON text, if there is a text.
    public let offset: Int?
    /// What is wrong and what is expected, for people, without the field and the offset.
    public let message: String

    init(_ code: Code, field: String? = nil, offset: Int? = nil, _ message: String) {
        self.code = code
        self.field = field
        self.offset = offset
        self.message = message
    }

    init(_ code: Code, _ key: DescriptionKey, at offset: Int? = nil, found: String? = nil) {
        let found = found.map { ", but \($0) is there" } ?? ""
        self.init(code, field: key.rawValue, offset: offset, "must be \(key.rule)\(found)")
    }

    init(_ error: JSONTextError, _ key: DescriptionKey? = nil) {
        self.init(Code(error.code), field: key?.rawValue, offset: error.offset, error.message)
    }

    static func repeated(_ key: String, at offset: Int?) -> DescriptionError {
        DescriptionError(
            .duplicateKey,
            field: key,
            offset: offset,
            "appears twice, but may appear only once"
        )
    }

    static func unknown(_ key: String, at offset: Int?, known: [String]) -> DescriptionError {
        let shown = key.printable.shortened(to: 64)
        return DescriptionError(
            .unknownKey,
            field: shown,
            offset: offset,
            "is not a known key; known are \(known.joined(separator: ", "))"
        )
    }
}

extension DescriptionError: CustomStringConvertible {
    /// The complete message with field and offset.
    public var description: String { text(at: offset.map { "at byte \($0)" }) }

    /// The complete message with field and the position in the text as editors show it.
    ///
    /// - Parameter text: The text in which the error is.
    package func explanation(in text: [UInt8]) -> String {
        self.text(at: offset.map { "at " + TextPosition.words(of: $0, in: text) })
    }

    private func text(at position: String?) -> String {
        let place = [field.map { "\"\($0)\"" }, position].compactMap(\.self).joined(separator: " ")
        return "invalid operation description: " + (place.isEmpty ? message : place + ": " + message)
    }
}

extension DescriptionError {
    /// The kinds of errors in operation descriptions. New kinds may be added.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Kind: String {
            case malformedJSON = "malformed_json"
            case tooDeep = "too_deep"
            case tooLarge = "too_large"
            case notEncodable = "not_encodable"
            case missingKey = "missing_key"
            case duplicateKey = "duplicate_key"
            case unknownKey = "unknown_key"
            case wrongType = "wrong_type"
            case invalidValue = "invalid_value"
            case unsupportedVersion = "unsupported_version"
        }

        private let kind: Kind

        /// The text is not valid JSON (RFC 8259).
        public static let malformedJSON = Code(kind: .malformedJSON)
        /// Arrays and objects are nested more than 64 levels deep.
        public static let tooDeep = Code(kind: .tooDeep)
        /// The arguments or the whole description have too many bytes.
        public static let tooLarge = Code(kind: .tooLarge)
        /// A Swift value cannot be encoded as JSON.
        public static let notEncodable = Code(kind: .notEncodable)
        /// A required key is missing.
        public static let missingKey = Code(kind: .missingKey)
        /// A known key occurs twice.
        public static let duplicateKey = Code(kind: .duplicateKey)
        /// A key is unknown where only known ones are allowed, as in the jobs of a workflow.
        public static let unknownKey = Code(kind: .unknownKey)
        /// The value of a known key has the wrong JSON type.
        public static let wrongType = Code(kind: .wrongType)
        /// The value of a known key is out of range or contains invalid characters.
        public static let invalidValue = Code(kind: .invalidValue)
        /// The version in `v` is not supported by this program.
        public static let unsupportedVersion = Code(kind: .unsupportedVersion)

        /// The kind in snake_case, as in logs and receipts.
        public var description: String { kind.rawValue }
    }
}

extension DescriptionError.Code {
    init(_ code: JSONTextError.Code) {
        switch code {
        case .malformed: self = .malformedJSON
        case .tooDeep: self = .tooDeep
        case .notEncodable: self = .notEncodable
        }
    }
}
