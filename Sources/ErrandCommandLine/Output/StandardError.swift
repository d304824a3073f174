import Foundation

/// Lines for people, on standard error.
package enum StandardError {
    /// Writes a line. Control characters that could play tricks on a terminal are shown escaped.
    package static func write(_ line: String) {
        FileHandle.standardError.write(Data((line.terminalSafe + "\n").utf8))
    }
}

/// Lines for programs and people, on standard output.
package enum StandardOutput {
    /// Writes a line at once, so that a reader sees it as it comes.
    package static func write(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    /// Writes a line of bytes at once.
    package static func write(_ line: [UInt8]) {
        FileHandle.standardOutput.write(Data(line + [UInt8(ascii: "\n")]))
    }
}

extension String {
    /// The text with control characters and direction overrides written as `\u{…}`, so that job data cannot steer a terminal.
    package var terminalSafe: String {
        var safe = ""
        for scalar in unicodeScalars {
            switch scalar.value {
            case 0x0A: safe.unicodeScalars.append(scalar)
            case 0..<0x20, 0x7F..<0xA0, 0x200B...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF:
                safe += "\\u{\(String(scalar.value, radix: 16))}"
            default: safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }
}
