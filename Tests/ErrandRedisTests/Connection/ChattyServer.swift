import Foundation
import TestSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A server on a loopback port that replies to every request with the start of a reply and a number of further bytes.
final class ChattyServer: Sendable {
    /// The port.
    let port: Int
    private let listener: Int32

    /// Starts it.
    init(beginning: String, bytes: Int) throws {
        port = try FreePorts.next()
        listener = try Self.listening(on: port)
        let file = listener
        let thread = Thread {
            while true {
                let client = accept(file, nil, nil)
                if client < 0 { return }
                Self.answer(client, beginning, bytes)
            }
        }
        thread.start()
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)); close(listener) }

    /// Opens a port.
    static func listening(on port: Int) throws -> Int32 {
        #if canImport(Glibc)
            let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let file = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        address.sin_port = UInt16(port).bigEndian
        let listens = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 && listen(file, 16) == 0
            }
        }
        guard listens else { throw TestFailure("cannot listen on \(port)") }
        return file
    }

    /// Writes until everything is written or the client closes the connection. Processes that use hiredis ignore
    /// SIGPIPE.
    private static func answer(_ client: Int32, _ beginning: String, _ bytes: Int) {
        defer { close(client) }
        var asked = [UInt8](repeating: 0, count: 4096)
        guard read(client, &asked, asked.count) > 0 else { return }
        guard write(client, beginning, beginning.utf8.count) > 0 else { return }
        let chunk = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        var left = bytes
        while left > 0 {
            let written = write(client, chunk, min(chunk.count, left))
            guard written > 0 else { return }
            left -= written
        }
    }
}
