import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// The socket calls of the proxy.
enum Sockets {
    #if os(Linux)
        private static let noSignal = Int32(MSG_NOSIGNAL)
    #else
        private static let noSignal: Int32 = 0
    #endif

    static func shut(_ file: Int32) { close(file) }

    /// Makes a listening socket on a free loopback port.
    static func makeListener() throws -> (socket: Int32, port: Int) {
        let file = socketOf(AF_INET)
        var address = loopback()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(file, $0, length) == 0 && getsockname(file, $0, &length) == 0
            }
        }
        guard isListening, listen(file, 128) == 0 else { throw TestFailure("the proxy found no port") }
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        return (file, Int(UInt16(bigEndian: address.sin_port)))
    }

    private static func loopback() -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
    }

    /// Accepts the next connection; returns `nil` if the socket was shut down.
    static func nextConnection(of listener: Int32) -> Int32? {
        let file = accept(listener, nil, nil)
        guard file >= 0 else { return errno == EINTR || errno == ECONNABORTED ? nextConnection(of: listener) : nil }
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        var on: Int32 = 1
        setsockopt(file, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        return file
    }

    /// Connects to a Unix socket; returns `nil` if no server listens.
    static func makeConnection(to path: String) -> Int32? {
        let file = socketOf(AF_UNIX)
        _ = fcntl(file, F_SETFD, FD_CLOEXEC)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        let isConnected = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(file, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        guard isConnected else {
            close(file)
            return nil
        }
        return file
    }

    /// Reads the next bytes; returns `nil` at the end.
    static func arrived(at file: Int32) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = read(file, &buffer, buffer.count)
            if count > 0 { return Array(buffer[..<count]) }
            guard count < 0, errno == EINTR else { return nil }
        }
    }

    /// Writes all bytes in pieces of at most `slice` bytes, and returns whether that succeeded.
    static func put(_ bytes: [UInt8], into file: Int32, slice: Int = .max) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.prefix(slice).withUnsafeBytes { send(file, $0.baseAddress, $0.count, noSignal) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// Resets a TCP connection; other threads that read from it see its end.
    static func reset(_ file: Int32) {
        #if os(Linux)
            var nobody = sockaddr()
            nobody.sa_family = sa_family_t(AF_UNSPEC)
            _ = connect(file, &nobody, socklen_t(MemoryLayout<sockaddr>.size))
        #else
            shutdown(file, Int32(SHUT_RDWR))
        #endif
    }
}
