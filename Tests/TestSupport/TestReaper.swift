import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Darwin)
    import Darwin
#endif

/// A helper process that kills the tests' servers when the test process ends, however it ends; no other process would.
final class TestReaper: Sendable {
    static let shared = TestReaper()

    /// Reads lines of `pid directory` until the writer has exited.
    private static let script = """
        servers=
        while read -r pid directory; do servers="$servers $pid:$directory"; done
        for server in $servers; do
            pid=${server%%:*}
            [ "$(cat /proc/$pid/comm 2>/dev/null)" = redis-server ] && kill -9 "$pid"
            rm -rf "${server#*:}"
        done
        """

    private let writing: Int32

    private init() {
        var ends: [Int32] = [-1, -1]
        if pipe(&ends) == 0 { for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) } }
        writing = ends[1]
        let reaper = Process()
        reaper.executableURL = URL(fileURLWithPath: "/bin/sh")
        reaper.arguments = ["-c", Self.script]
        reaper.standardInput = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        try? reaper.start()
    }

    /// Adds a server and its directory.
    func watch(_ pid: Int32, _ directory: String) {
        let line = "\(pid) \(directory)\n"
        _ = write(writing, line, line.utf8.count)
    }
}
