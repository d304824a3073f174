import TestSupport

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A port whose backlog is full and never accepted, so that connecting clients wait.
final class DeafPort: Sendable {
    /// The port on the loopback interface.
    let number: Int
    private let sockets: [Int32]

    init() throws {
        let listener = Self.makeSocket()
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isBound, listen(listener, 0) == 0 else { throw TestFailure("no port to listen on") }
        number = Int(UInt16(bigEndian: address.sin_port))
        let place = address
        // One of them fills the backlog.
        sockets = [listener] + (0..<4).map { _ in Self.knock(at: place) }
    }

    /// Frees the port, which is kept until then.
    func end() {
        for file in sockets { close(file) }
    }

    /// Starts a connection without waiting for it.
    private static func knock(at place: sockaddr_in) -> Int32 {
        let file = makeSocket()
        _ = fcntl(file, F_SETFL, O_NONBLOCK)
        _ = withUnsafePointer(to: place) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return file
    }

    private static func makeSocket() -> Int32 {
        #if canImport(Glibc)
            let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let file = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        return file
    }
}
