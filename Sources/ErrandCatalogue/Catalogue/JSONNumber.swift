/// The number syntax of JSON.
enum JSONNumber {
    /// Returns whether a text is a number and nothing else. A catalogue may have hundreds of thousands of them, so the
    /// text is scanned byte by byte.
    static func isWhole(_ text: Substring.UTF8View) -> Bool {
        var rest = text
        _ = skip("-", in: &rest)
        let hasLeadingZero = rest.first == UInt8(ascii: "0")
        let whole = skipDigits(in: &rest)
        guard whole == 1 || (whole > 1 && !hasLeadingZero) else { return false }
        if skip(".", in: &rest), skipDigits(in: &rest) == 0 { return false }
        if skip("eE", in: &rest) {
            _ = skip("+-", in: &rest)
            if skipDigits(in: &rest) == 0 { return false }
        }
        return rest.isEmpty
    }

    /// Skips one of these characters, and returns whether it was there.
    private static func skip(_ characters: StaticString, in rest: inout Substring.UTF8View) -> Bool {
        guard let first = rest.first, characters.withUTF8Buffer({ $0.contains(first) }) else { return false }
        rest.removeFirst()
        return true
    }

    private static func skipDigits(in rest: inout Substring.UTF8View) -> Int {
        let digits = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.count
        rest.removeFirst(digits)
        return digits
    }
}
