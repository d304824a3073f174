import Errand

/// The part of an error that equal errors share, so that thousands of failures become a few groups.
///
/// It is the first line of the error, at most 200 characters, in which `#` stands for what differs from job to job:
///
/// - a UUID, and a word of 16 or more letters and digits that has at least two digits, such as a job's id;
/// - a word of 8 or more hexadecimal digits that has a decimal digit, and `0x` with the digits after it;
/// - a sequence of decimal digits elsewhere, even within a word: `report7` becomes `report#`.
///
/// Several of them in a row, joined by `.`, `:`, `-`, `/` or `,`, are one `#`: times, addresses and versions. White space
/// in a row is one space.
package enum ErrorPattern {
    /// The pattern of jobs without an error.
    package static let none = "(no error recorded)"

    private static let mostCharacters = 200
    /// The bytes of an error that matter: later ones are beyond the longest pattern in practice.
    private static let mostBytes = 2000

    /// Returns the pattern of an error.
    package static func of(_ error: String?) -> String {
        guard let error else { return none }
        var scanner = Scanner(Array(firstLine(of: error).prefix(mostBytes)))
        let pattern = scanner.pattern()
        if pattern.isEmpty { return none }
        return pattern.count > mostCharacters ? pattern.prefix(mostCharacters - 1) + "…" : pattern
    }

    private static func firstLine(of error: String) -> Substring.UTF8View {
        let start = error.utf8.drop { $0 <= 0x20 }
        return start.prefix { $0 != 0x0A && $0 != 0x0D }
    }
}

/// Replaces the variable parts of one line.
private struct Scanner {
    private let bytes: [UInt8]
    private var index = 0
    private var output: [UInt8] = []

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func pattern() -> String {
        while index < bytes.count {
            if bytes[index].isLetterOrDigit { addWord() } else { addOther() }
        }
        while output.last == 0x20 { output.removeLast() }
        return String(decoding: output, as: UTF8.self)
    }

    private mutating func addOther() {
        let byte = bytes[index]
        index += 1
        let isSpace = byte == 0x20 || byte == 0x09
        if isSpace, output.last == 0x20 { return }
        output.append(isSpace ? 0x20 : byte)
    }

    private mutating func addWord() {
        if let end = endOfUUID() {
            index = end
            return addVariable()
        }
        let word = bytes[index...].prefix { $0.isLetterOrDigit }
        index = word.endIndex
        if isVariable(word) { return addVariable() }
        addPlain(word)
    }

    /// Adds a word in which only the digits vary.
    private mutating func addPlain(_ word: ArraySlice<UInt8>) {
        var rest = word
        while let byte = rest.first {
            if byte.isDigit {
                rest = rest.drop { $0.isDigit }
                addVariable()
            } else {
                output.append(byte)
                rest = rest.dropFirst()
            }
        }
    }

    /// Adds a `#`, or extends the one before it across a separator.
    private mutating func addVariable() {
        if let last = output.last, Self.separators.contains(last), output.dropLast().last == Self.sign {
            output.removeLast()
        } else if output.last != Self.sign {
            output.append(Self.sign)
        }
    }

    private func isVariable(_ word: ArraySlice<UInt8>) -> Bool {
        let digits = word.count { $0.isDigit }
        if word.count >= 16, digits >= 2 { return true }
        if word.count >= 8, digits >= 1, word.allSatisfy({ $0.isHexadecimal }) { return true }
        let start = word.prefix(2)
        return word.count > 2 && start.elementsEqual("0x".utf8) && word.dropFirst(2).allSatisfy { $0.isHexadecimal }
    }

    /// Returns the end of a UUID that begins here, if one does.
    private func endOfUUID() -> Int? {
        let (end, isTooMuch) = index.addingReportingOverflow(36)
        guard !isTooMuch, end <= bytes.count, end == bytes.count || !bytes[end].isLetterOrDigit else { return nil }
        for (offset, byte) in bytes[index..<end].enumerated() {
            let isHyphen = [8, 13, 18, 23].contains(offset)
            guard isHyphen ? byte == UInt8(ascii: "-") : byte.isHexadecimal else { return nil }
        }
        return end
    }

    private static let sign = UInt8(ascii: "#")
    private static let separators = Array(".:-/,".utf8)
}

extension UInt8 {
    fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }
    fileprivate var isLetterOrDigit: Bool { isDigit || (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) }
    fileprivate var isHexadecimal: Bool { isDigit || (0x41...0x46).contains(self) || (0x61...0x66).contains(self) }
}
