import ErrandCommandLine
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The whole terminal: keys come one by one and unseen, and what was there before comes back at the end.
final class TerminalScreen: Sendable {
    private let before: Settings

    /// Takes the terminal; `nil` when standard input or output is none.
    init?() {
        var settings = termios()
        guard Terminal.readsStandardOutput, tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        before = Settings(termios: settings)
        enter()
    }

    /// Takes the terminal again, which a shell has given its own settings while this process was suspended.
    func enter() {
        var settings = before.termios
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
        // The other screen, without a cursor, and without lines that go on in the next: wide letters take two columns.
        Self.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l")
    }

    /// Gives the terminal back.
    func leave() {
        Self.write("\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
        var settings = before.termios
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
    }

    /// Columns and rows; they change when a person pulls at the window.
    var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Shows lines, from the top. Each is cleared behind its end, so nothing flickers.
    func show(_ lines: [String]) {
        let text = lines.prefix(size.rows).map { $0 + "\u{1B}[K" }.joined(separator: "\r\n")
        Self.write("\u{1B}[H" + text + "\u{1B}[J")
    }

    private static func write(_ text: String) { StandardOutput.write(raw: Array(text.utf8)) }
}

/// Unchecked because a value of C's that is never written again is safe to share; the importer does not say so.
private struct Settings: @unchecked Sendable {
    let termios: termios
}

/// What a person presses.
enum Key: Sendable, Equatable {
    case up, down
    case character(Character)

    /// The keys that bytes from a terminal stand for; arrows are three bytes. What may be the beginning of one stays.
    static func takeKeys(from bytes: inout [UInt8]) -> [Key] {
        var (keys, rest) = ([Key](), bytes[...])
        defer { bytes = Array(rest) }
        while let byte = rest.first {
            if rest.count < 3, [0x1B, 0x5B].starts(with: rest) { break }
            if rest.starts(with: [0x1B, 0x5B]), let letter = rest.dropFirst(2).first {
                if letter == UInt8(ascii: "A") { keys.append(.up) }
                if letter == UInt8(ascii: "B") { keys.append(.down) }
                rest = rest.dropFirst(3)
            } else {
                if byte >= 0x20 { keys.append(.character(Character(Unicode.Scalar(byte)))) }
                rest = rest.dropFirst()
            }
        }
        return keys
    }

    /// The keys as they are pressed, until standard input ends.
    static func pressed() -> AsyncStream<Key> {
        AsyncStream { continuation in
            let reader = Thread {
                var buffer = [UInt8](repeating: 0, count: 64)
                var bytes: [UInt8] = []
                while true {
                    let count = read(STDIN_FILENO, &buffer, buffer.count)
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { break }
                    bytes += buffer[..<count]
                    for key in takeKeys(from: &bytes) { continuation.yield(key) }
                }
                continuation.finish()
            }
            reader.name = "errand-keys"
            reader.start()
        }
    }
}
