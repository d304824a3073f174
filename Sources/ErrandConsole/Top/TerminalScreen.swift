import ErrandCommandLine
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The terminal in full-screen mode: keys arrive one by one without echo, and the earlier content is restored at the
/// end.
final class TerminalScreen: Sendable {
    private let before: Settings

    /// Enters full-screen mode; `nil` if standard input or output is not a terminal.
    init?() {
        var settings = termios()
        guard Terminal.readsStandardOutput, tcgetattr(STDIN_FILENO, &settings) == 0 else { return nil }
        before = Settings(termios: settings)
        enter()
    }

    /// Enters full-screen mode again: the shell has restored its own settings while this process was suspended.
    func enter() {
        var settings = before.termios
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
        // Use the alternate screen without a cursor and without automatic wrapping, because wide characters take two
        // columns.
        Self.write("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l")
    }

    /// Restores the terminal.
    func leave() {
        Self.write("\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
        var settings = before.termios
        tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
    }

    /// The number of columns and rows, which change with the window's size.
    var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Shows lines from the top. It clears the rest of each line instead of the whole screen, to avoid flickering.
    func show(_ lines: [String]) {
        let text = lines.prefix(size.rows).map { $0 + "\u{1B}[K" }.joined(separator: "\r\n")
        Self.write("\u{1B}[H" + text + "\u{1B}[J")
    }

    private static func write(_ text: String) { StandardOutput.write(raw: Array(text.utf8)) }
}

/// Unchecked because an imported C struct is not `Sendable`, but this value never changes.
private struct Settings: @unchecked Sendable {
    let termios: termios
}

/// A key that the user presses.
enum Key: Sendable, Equatable {
    case up, down
    case character(Character)

    /// Removes the complete keys from a terminal's bytes and returns them. An arrow is three bytes; the beginning of
    /// one stays.
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

    /// Returns the keys as they are pressed, until standard input ends.
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
