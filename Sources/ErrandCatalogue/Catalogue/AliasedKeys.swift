/// Keys that are aliases, or contain some.
///
/// The YAML parser compares keys by their whole contents, so a key with nested aliases of a few hundred bytes takes
/// practically forever. Catalogues need no such keys, so a text that may have one is refused before it is parsed. This
/// also refuses a text with aliases in which a colon follows a closing bracket or brace, which valid catalogues hardly
/// need.
enum AliasedKeys {
    static func mayBeThere(in yaml: String) -> Bool {
        let bytes = Array(yaml.utf8)
        guard bytes.contains(UInt8(ascii: "*")) else { return false }
        var hasAlias = false
        var hasComplexKey = false
        for (index, byte) in bytes.enumerated() where index == 0 || separators.contains(bytes[index - 1]) {
            if byte == UInt8(ascii: "*") {
                hasAlias = true
                if isKey(bytes[index...].drop { !separators.contains($0) }) { hasComplexKey = true }
            }
            if byte == UInt8(ascii: "?") { hasComplexKey = true }
        }
        guard hasAlias else { return false }
        return hasComplexKey
            || bytes.indices.contains { closers.contains(bytes[$0]) && isKey(bytes[bytes.index(after: $0)...]) }
    }

    /// Returns whether a colon comes next.
    private static func isKey(_ rest: ArraySlice<UInt8>) -> Bool {
        rest.first { !spaces.contains($0) } == UInt8(ascii: ":")
    }

    private static let spaces = Array(" \t\r\n".utf8)
    private static let separators = spaces + Array(",[]{}:-".utf8)
    private static let closers = Array("]}".utf8)
}
