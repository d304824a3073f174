import Foundation
import TestSupport

/// The clock of a server or another process, which can be changed while it runs.
struct MovableClock {
    private let file: String
    private let libraries: String

    init(_ context: ScenarioContext) throws {
        file = context.directory + "/clock"
        // The C library before jemalloc, which reads the time while faketime still initializes, so that both would
        // hang.
        let paths = try Shell.run("echo /usr/lib/*/faketime/libfaketimeMT.so.1 /lib/*-linux-gnu/libc.so.6")
        libraries = paths.split(whereSeparator: \.isWhitespace).joined(separator: ":")
        try set("+0")
    }

    private var settings: [String] {
        [
            "LD_PRELOAD=\(libraries)", "FAKETIME_TIMESTAMP_FILE=\(file)", "FAKETIME_NO_CACHE=1",
            "FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_DISABLE_SHM=1",
        ]
    }

    /// Starts a server with this clock.
    func server(_ context: ScenarioContext, _ more: [String] = []) throws -> RedisServer {
        try context.adopt(RedisServer(prefix: settings, more))
    }

    /// The words before a command that give it this clock; for the shell, see ``Faketime``.
    var prefix: [String] { settings + ["sh", "-c", #"exec "$@""#, "sh"] }

    /// Sets it a number of seconds ahead (`+3600`) or behind (`-60`).
    func set(_ offset: String) throws {
        try Data("\(offset)\n".utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
    }

    /// Sets it to a time, in seconds since 1970, from which it continues.
    func set(to seconds: Int) throws {
        let offset = seconds - Int(Date().timeIntervalSince1970)
        try set(offset < 0 ? "\(offset)" : "+\(offset)")
    }
}
