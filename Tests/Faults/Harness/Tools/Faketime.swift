import Foundation
import TestSupport

/// Processes whose clock is another one, by libfaketime.
enum Faketime {
    /// Where Debian, Ubuntu and others keep the library.
    private static let library: String? = {
        let text = try? Shell.run(
            "ls /usr/lib/*/faketime/libfaketime.so.1 /usr/lib/faketime/libfaketime.so.1 2>/dev/null || true"
        )
        return text?.split(whereSeparator: \.isNewline).first.map(String.init)
    }()

    /// Words before a command that give it such a clock, for instance `+1h`, `-5m` or `+1h x1.5`.
    ///
    /// The library changes the environment of the first process that loads it, where Swift looks for the arguments; so a
    /// shell loads it first, and becomes the command.
    static func prefix(_ clock: String) throws -> [String] {
        guard let library else { throw TestFailure("libfaketime is not installed") }
        return ["LD_PRELOAD=\(library)", "FAKETIME=\(clock)", "sh", "-c", #"exec "$@""#, "sh"]
    }

    /// Removes what a killed process left in shared memory.
    static func cleanUp(after pid: Int32) {
        for file in ["faketime_shm_\(pid)", "sem.faketime_sem_\(pid)"] { unlink("/dev/shm/" + file) }
    }
}
