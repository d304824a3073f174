import Foundation

/// The fields of a form or query in the format `application/x-www-form-urlencoded`.
struct FormFields: Sendable {
    /// Keys and values in their order; a key may occur several times.
    private(set) var pairs: [(key: String, value: String)] = []

    init(_ pairs: [(key: String, value: String)] = []) { self.pairs = pairs }

    /// Parses a form or query.
    ///
    /// - Throws: `PageProblem` if a field cannot be decoded. Ignoring it would drop a filter, so that all jobs match.
    init(parsing text: some StringProtocol) throws(PageProblem) {
        for pair in text.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let key = Self.decode(parts[0]), let value = Self.decode(parts.count > 1 ? parts[1] : "") else {
                throw PageProblem.bad(
                    "a field cannot be read: it must be UTF-8, with percent signs before two hexadecimal digits"
                )
            }
            pairs.append((key, value))
        }
    }

    /// The first value of a key that is not empty.
    subscript(key: String) -> String? { pairs.first { $0.key == key && !$0.value.isEmpty }?.value }

    /// Returns the whole number of a key; `nil` if there is none.
    ///
    /// - Throws: `PageProblem` if the value is another text.
    func number(_ key: String) throws(PageProblem) -> Int? {
        guard let text = self[key] else { return nil }
        guard let number = Int(text) else { throw PageProblem.bad("\(key): write a whole number") }
        return number
    }

    /// Returns all values of a key.
    func all(_ key: String) -> [String] { pairs.filter { $0.key == key }.map(\.value) }

    /// The fields as a query.
    var query: String {
        pairs.map { "\(Self.encode($0.key))=\(Self.encode($0.value))" }.joined(separator: "&")
    }

    /// The fields for hidden inputs of a form.
    var values: [[String: Any]] { pairs.map { ["key": $0.key, "value": $0.value] } }

    private static func decode(_ text: some StringProtocol) -> String? {
        // Works on bytes, because a form may have megabytes.
        let spaced = text.utf8.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        return String(decoding: spaced, as: UTF8.self).removingPercentEncoding
    }

    static func encode(_ text: String) -> String {
        let plain = CharacterSet(charactersIn: "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~")
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }
}
