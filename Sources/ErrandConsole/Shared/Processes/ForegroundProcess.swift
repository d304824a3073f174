import ErrandCommandLine
import ErrandRedis
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A program that uses the terminal, such as an editor.
///
/// On Linux, Foundation's `Process` puts a child into its own process group, and a group that is not the terminal's
/// foreground group may not read from it.
enum ForegroundProcess {
    /// Runs a program in this process's group and waits until it has ended. Meanwhile this process ignores the
    /// terminal's signals.
    ///
    /// - Parameters:
    ///   - words: The program's path and its arguments.
    ///   - environment: Its environment; this one without passwords if `nil`.
    ///   - output: Its standard output; this one if `nil`.
    /// - Returns: The exit status, or 128 plus the number of the signal that ended the program.
    static func run(
        _ words: [String],
        environment: [String: String]? = nil,
        output: Int32? = nil
    ) async throws -> Int32 {
        let heard = [SIGINT, SIGQUIT].map { ($0, signal($0, SIG_IGN)) }
        defer { for (number, handler) in heard { signal(number, handler) } }
        let pid = try spawn(words, environment ?? ProcessInfo.processInfo.environment.withoutSecrets, output)
        return await withCheckedContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(returning: awaitEnd(of: pid)) }
        }
    }

    private static func spawn(_ words: [String], _ variables: [String: String], _ output: Int32?) throws -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        setUsualSignals(of: &attributes)
        let arguments = words.map { strdup($0) } + [nil]
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
        #else
            var actions = posix_spawn_file_actions_t()
        #endif
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let output { posix_spawn_file_actions_adddup2(&actions, output, 1) }
        let environment = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in arguments + environment { free(text) } }
        var pid = pid_t()
        let failure = posix_spawn(&pid, words.first ?? "", &actions, &attributes, arguments, environment)
        guard failure == 0 else {
            let reason = String(cString: strerror(failure))
            throw CommandFailure("cannot start \(words.first ?? "nothing"): \(reason)", ExitStatus.unavailable)
        }
        return pid
    }

    private static func awaitEnd(of pid: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 {
            if errno != EINTR { return 127 }
        }
        let number = status & 0x7F
        return number == 0 ? (status >> 8) & 0xFF : 128 + number
    }
}
