import Yams

/// Keys that are aliases, or contain some.
///
/// Yams compares keys by their whole contents, so a key with nested aliases of a few hundred bytes takes practically
/// forever. Such keys are found in a copy of the text that has plain text in place of every alias, which is parsed in no
/// time.
enum AliasedKeys {
    /// What the plain text in place of an alias begins with.
    private static let mark: Unicode.Scalar = "\u{E000}"

    /// Returns the text with plain text in place of its aliases; `nil` if it has none.
    ///
    /// An alias has an asterisk and the name of an anchor: the asterisks of a cron expression are left alone.
    static func withoutAliases(_ yaml: String) -> String? {
        let bytes = Array(yaml.utf8)
        let anchors = Set(bytes.indices.filter { bytes[$0] == UInt8(ascii: "&") }.map { name(after: $0, in: bytes) })
        var output: [UInt8] = []
        var copied = 0
        for index in bytes.indices where bytes[index] == UInt8(ascii: "*") {
            let name = name(after: index, in: bytes)
            guard !name.isEmpty, anchors.contains(name) else { continue }
            output += Array(bytes[copied..<index]) + Array(String(mark).utf8) + Array(name)
            copied = name.endIndex
        }
        guard copied > 0 else { return nil }
        return String(decoding: output + Array(bytes[copied...]), as: UTF8.self)
    }

    /// Returns the first key of a text without aliases that is no text, or was an alias. It may also be part of a scalar
    /// that begins with what was an alias: in the original text, that alias may be a key.
    static func key(in node: Node) -> Node? {
        switch node {
        case .alias: return nil
        case .scalar(let scalar): return isMoreThanAlias(scalar) ? node : nil
        case .sequence(let items):
            for item in items {
                if let key = key(in: item) { return key }
            }
        case .mapping(let mapping):
            for (name, value) in mapping {
                guard isText(name) else { return name }
                if let key = key(in: value) { return key }
            }
        }
        return nil
    }

    /// Returns a problem with what was an alias written as one again.
    static func restored(_ problem: String) -> String { problem.replacing("\(mark)", with: "*") }

    private static func isText(_ key: Node) -> Bool {
        guard case .scalar(let scalar) = key else { return false }
        return !wasAlias(scalar)
    }

    private static func wasAlias(_ scalar: Node.Scalar) -> Bool {
        scalar.style == .plain && scalar.string.unicodeScalars.first == mark
    }

    private static func isMoreThanAlias(_ scalar: Node.Scalar) -> Bool {
        wasAlias(scalar)
            && !scalar.string.unicodeScalars.dropFirst().allSatisfy { $0.isASCII && names.contains(UInt8($0.value)) }
    }

    /// Returns the name that follows an asterisk or ampersand.
    private static func name(after index: Int, in bytes: [UInt8]) -> ArraySlice<UInt8> {
        bytes[(index + 1)...].prefix { names.contains($0) }
    }

    private static let names = Set("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz-".utf8)
}
