import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// TCP ports for the servers of tests.
///
/// A port that the system picks may be picked again before its server listens, for another server or for a client's
/// connection. These are below the ports that systems pick, and a process gives each out once.
package enum FreePorts {
    private static let range = 10_000..<32_000
    private static let last = Mutex(Int.random(in: range))

    /// Returns a port that no process listens on.
    ///
    /// - Throws: ``TestFailure`` if all ports are taken.
    package static func next() throws -> Int {
        for _ in range {
            let port = last.withLock { last in
                last = last + 1 < range.upperBound ? last + 1 : range.lowerBound
                return last
            }
            if isFree(port) { return port }
        }
        throw TestFailure("no free port")
    }

    private static func isFree(_ port: Int) -> Bool {
        let file = socketOf(AF_INET)
        defer { close(file) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
    }
}
