import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A server on a loopback port that replies to everything with the same bytes, to test against a server that is not
/// Redis.
package final class SilentServer: Sendable {
    /// The port that the server listens on.
    package let port: Int
    private let listener: Int32

    /// Starts the server.
    package init(answer: String) throws {
        port = try FreePorts.next()
        listener = socketOf(AF_INET)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let file = listener
        let listens = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 && listen(file, 16) == 0
            }
        }
        guard listens else { throw TestFailure("cannot listen on \(port)") }
        let thread = Thread {
            while true {
                let client = accept(file, nil, nil)
                if client < 0 { return }
                var buffer = [UInt8](repeating: 0, count: 4096)
                if read(client, &buffer, buffer.count) > 0 { _ = write(client, answer, answer.utf8.count) }
                close(client)
            }
        }
        thread.start()
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)); close(listener) }
}
