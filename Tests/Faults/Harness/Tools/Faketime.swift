import Foundation
import TestSupport

/// Processes with a changed clock, through libfaketime.
enum Faketime {
    /// The paths of the library on Debian, Ubuntu and others.
    private static let library: String? = {
        let text = try? Shell.run(
            "ls /usr/lib/*/faketime/libfaketime.so.1 /usr/lib/faketime/libfaketime.so.1 2>/dev/null || true"
        )
        return text?.split(whereSeparator: \.isNewline).first.map(String.init)
    }()

    /// The words before a command that set its clock, for instance `+1h`, `-5m` or `+1h x1.5`.
    ///
    /// The library changes the environment of the first process that loads it, where Swift looks for the arguments; so a
    /// shell loads it first, and becomes the command.
    static func prefix(_ clock: String) throws -> [String] {
        guard let library else { throw TestFailure("libfaketime is not installed") }
        return ["LD_PRELOAD=\(library)", "FAKETIME=\(clock)", "sh", "-c", #"exec "$@""#, "sh"]
    }

    /// Removes the shared memory of a killed process.
    static func cleanUp(after pid: Int32) {
        for file in ["faketime_shm_\(pid)", "sem.faketime_sem_\(pid)"] { unlink("/dev/shm/" + file) }
    }
}
