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

/// A worker process: this executable with another command.
///
/// It reads a pipe on its standard input and stops when that is closed. So it ends with its parent, however the parent
/// has ended. It has its own process group, so that Ctrl-C reaches only the parent.
struct WorkerProcess: Sendable {
    /// The number of the process, from 1.
    let number: Int
    let pid: pid_t
    /// The write end of the pipe.
    private let lifeline: Int32

    /// Starts a process. Its standard input begins with `line`, which may be secret, as arguments may not.
    init(number: Int, arguments: [String], line: String? = nil, output: Int32? = nil) throws {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Self.failure(errno) }
        // No other worker may inherit this one's lifeline.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        do { pid = try Self.spawn(arguments, standardInput: ends[0], output: output) } catch {
            close(ends[1])
            throw error
        }
        self.number = number
        lifeline = ends[1]
        // Both ends are open and the pipe is empty, so this neither blocks nor raises a signal.
        if let line { _ = Array("\(line)\n".utf8).withUnsafeBytes { write(lifeline, $0.baseAddress, $0.count) } }
    }

    /// Sends the process a signal.
    func signal(_ signal: Int32) { kill(pid, signal) }

    /// Reaps the process and returns its exit status; `nil` while it runs. Do not call it again after a status, because
    /// another process may then have the pid.
    func endedStatus() -> Int32? {
        var status: Int32 = 0
        let found = waitpid(pid, &status, WNOHANG)
        return found == 0 || (found < 0 && errno == EINTR) ? nil : status
    }

    /// Stops the process, which first releases its claims.
    func letGo() { close(lifeline) }

    // MARK: Starting

    private static func spawn(_ words: [String], standardInput: Int32, output: Int32?) throws -> pid_t {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        posix_spawnattr_setpgroup(&attributes, 0)
        setUsualSignals(of: &attributes, andFlags: Int32(POSIX_SPAWN_SETPGROUP))
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, standardInput, 0)
        // Standard output is for the parent's own result.
        if let output {
            posix_spawn_file_actions_adddup2(&actions, output, 1)
        } else {
            posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        }
        let arguments = ([CommandLine.arguments.first ?? "errand"] + words).map { strdup($0) } + [nil]
        let variables = ProcessInfo.processInfo.environment.withoutSecrets
        let environment = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in arguments + environment { free(text) } }
        var pid = pid_t()
        let failure = posix_spawn(&pid, executable, &actions, &attributes, arguments, environment)
        guard failure == 0 else { throw Self.failure(failure) }
        return pid
    }

    private static var executable: String {
        Bundle.main.executablePath ?? CommandLine.arguments.first ?? "errand"
    }

    private static func failure(_ code: Int32) -> CommandFailure {
        CommandFailure("cannot start a worker process: \(String(cString: strerror(code)))", ExitStatus.unavailable)
    }
}
