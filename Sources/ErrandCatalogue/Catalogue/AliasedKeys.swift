/// Keys that are aliases, or hold some.
///
/// The YAML parser compares keys by all that they hold, so a key that is an alias to aliases to aliases of a few hundred
/// bytes takes longer than anybody waits. Catalogues need no such keys, so a text that may have one is refused before it is
/// parsed. Braces with a colon behind them in a text with aliases are refused for nothing; nobody was seen to need both.
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

    /// Whether a colon comes next.
    private static func isKey(_ rest: ArraySlice<UInt8>) -> Bool {
        rest.first { !spaces.contains($0) } == UInt8(ascii: ":")
    }

    private static let spaces = Array(" \t\r\n".utf8)
    private static let separators = spaces + Array(",[]{}:-".utf8)
    private static let closers = Array("]}".utf8)
}
