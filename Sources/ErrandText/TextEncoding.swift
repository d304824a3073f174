/// The encoding of text files, as far as their first bytes show it.
package enum TextEncoding {
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// Returns the bytes without the byte order mark that some programs, most of them on Windows, write before UTF-8.
    package static func withoutMark(_ bytes: [UInt8]) -> [UInt8] {
        bytes.starts(with: mark) ? Array(bytes.dropFirst(mark.count)) : bytes
    }

    /// Returns the text without a byte order mark at its start.
    package static func withoutMark(_ text: String) -> String {
        text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
    }

    /// Returns why the first bytes of a text are not UTF-8, and the remedy; `nil` if they may be UTF-8.
    ///
    /// UTF-16 and UTF-32 begin with their own marks, or with a zero byte beside an ASCII character.
    package static func objection(to bytes: some Sequence<UInt8>) -> String? {
        let start = Array(bytes.prefix(2))
        guard start.count == 2, start == [0xFF, 0xFE] || start == [0xFE, 0xFF] || start.contains(0) else { return nil }
        return "is not UTF-8 but, as it seems, UTF-16; save it as UTF-8, or convert it: iconv -f UTF-16 -t UTF-8"
    }
}
