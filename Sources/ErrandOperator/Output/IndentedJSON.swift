/// A formatter of JSON over several lines, for people. Values keep their original digits.
package struct IndentedJSON {
    private var output: [UInt8] = []
    private var depth = 0

    /// Formats JSON text that is known to be valid.
    package static func lines(of json: [UInt8]) -> String {
        var writer = IndentedJSON()
        writer.write(json)
        return String(decoding: writer.output, as: UTF8.self)
    }

    private mutating func write(_ json: [UInt8]) {
        var (isString, isEscaped) = (false, false)
        for (index, byte) in json.enumerated() {
            if isString {
                output.append(byte)
                if !isEscaped, byte == UInt8(ascii: "\"") { isString = false }
                isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
                continue
            }
            isString = byte == UInt8(ascii: "\"")
            writeMark(byte, isEmpty: Self.closesNext(json, after: index))
        }
    }

    private mutating func writeMark(_ byte: UInt8, isEmpty: Bool) {
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            output.append(byte)
            depth += 1
            if !isEmpty { beginLine() }
        case UInt8(ascii: "}"), UInt8(ascii: "]"):
            depth = max(0, depth - 1)
            if let last = output.last, last != UInt8(ascii: "{"), last != UInt8(ascii: "[") { beginLine() }
            output.append(byte)
        case UInt8(ascii: ","):
            output.append(byte)
            beginLine()
        case UInt8(ascii: ":"): output += [byte, UInt8(ascii: " ")]
        case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): break
        default: output.append(byte)
        }
    }

    private mutating func beginLine() {
        output.append(UInt8(ascii: "\n"))
        output += Array(repeating: UInt8(ascii: " "), count: 2 * depth)
    }

    private static func closesNext(_ json: [UInt8], after index: Int) -> Bool {
        let next = json[(index + 1)...].first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        return next == UInt8(ascii: "}") || next == UInt8(ascii: "]")
    }
}
