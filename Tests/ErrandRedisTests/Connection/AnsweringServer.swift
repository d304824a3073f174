import Foundation
import Synchronization
import TestSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A server on a loopback port that answers commands as a test says, to be what no real server is.
final class AnsweringServer: Sendable {
    /// The port.
    let port: Int
    private let listener: Int32
    private let log = Log()

    private final class Log: Sendable {
        let commands = Mutex<[[String]]>([])
    }

    /// Starts it.
    ///
    /// - Parameter answer: Returns the reply to a command other than PING as it is sent, such as `+OK`, without the end of the line.
    init(_ answer: @escaping @Sendable (_ words: [String], _ port: Int) -> String) throws {
        port = try FreePorts.next()
        listener = try ChattyServer.listening(on: port)
        let (file, port, log) = (listener, port, log)
        let thread = Thread {
            while true {
                let client = accept(file, nil, nil)
                if client < 0 { return }
                Thread.detachNewThread {
                    Self.serve(client) { words in
                        log.commands.withLock { $0.append(words) }
                        return words[0] == "PING" ? Self.echo(words) : answer(words, port)
                    }
                }
            }
        }
        thread.start()
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)); close(listener) }

    /// The commands so far.
    var commands: [[String]] { log.commands.withLock { $0 } }

    /// Every client checks that the replies belong to its commands.
    private static func echo(_ ping: [String]) -> String {
        ping.count > 1 ? "$\(ping[1].utf8.count)\r\n\(ping[1])" : "+PONG"
    }

    private static func serve(_ client: Int32, _ answer: ([String]) -> String) {
        defer { close(client) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = read(client, &bytes, bytes.count), count > 0 {
            let replies = commands(in: String(decoding: bytes[..<count], as: UTF8.self)).map { answer($0) + "\r\n" }
                .joined()
            guard write(client, replies, replies.utf8.count) > 0 else { return }
        }
    }

    /// Commands come in one piece, and no word contains an end of line.
    private static func commands(in text: String) -> [[String]] {
        var lines = text.split(separator: "\r\n", omittingEmptySubsequences: false).map(String.init)[...]
        var commands: [[String]] = []
        while let head = lines.popFirst(), head.hasPrefix("*"), let count = Int(head.dropFirst()) {
            let words = lines.prefix(2 * count)
            commands.append(words.enumerated().filter { $0.offset % 2 == 1 }.map(\.element))
            lines = lines.dropFirst(2 * count)
        }
        return commands
    }
}
