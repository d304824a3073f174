/// A position in a text, as editors show it.
package struct TextPosition: Sendable, Equatable, CustomStringConvertible {
    /// The line, from 1.
    package let line: Int
    /// The character in its line, from 1.
    package let column: Int

    /// Finds the position of a byte.
    ///
    /// - Parameters:
    ///   - offset: The number of bytes of the text before it.
    ///   - text: The text as UTF-8.
    package init(of offset: Int, in text: [UInt8]) {
        let lineFeed = UInt8(ascii: "\n")
        let before = text.prefix(max(0, offset))
        line = before.count { $0 == lineFeed } + 1
        let start = before.lastIndex(of: lineFeed).map { $0 + 1 } ?? before.startIndex
        column = String(decoding: before[start...], as: UTF8.self).count + 1
    }

    /// Returns the position of a byte in words: `line 3, column 15`, or `column 15` if the text is one line.
    package static func words(of offset: Int, in text: [UInt8]) -> String {
        let position = TextPosition(of: offset, in: text)
        return text.contains(UInt8(ascii: "\n")) ? "\(position)" : "column \(position.column)"
    }

    /// A text such as `line 3, column 15`.
    package var description: String { "line \(line), column \(column)" }
}
