public import Errand
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A private redis-server for machines where nobody set one up: appendonly, on a Unix socket, with its data in a
/// directory of its own.
///
/// The first process that needs it starts it, others join it, and it ends when the last one has left, however that one
/// ended. Its data stays. This is how:
///
/// - Every user holds a shared lock (`flock`) on `users` in the directory; the system takes it away when the process
///   ends, also by SIGKILL.
/// - A *guardian*, a small shell script in a session of its own, starts the server and then waits for an exclusive lock
///   on `users`. It gets that when nobody uses the server any more, stops it, and lets go only when it is gone; so who
///   comes at that moment waits, and starts a new one. A server whose disk is full, so that jobs are in its memory only, is
///   not stopped: it goes on, and the next process joins it, until it could write them.
/// - The server holds a lock on `server.lock` for as long as it lives, so that nobody takes a busy one for a dead one
///   and starts a second over its data. The guardian starts it anew if it ends while it is used.
/// - Whoever starts holds an exclusive lock on `start` meanwhile, so that only one does.
public final class EmbeddedBroker: Sendable {
    /// Where the server listens.
    public let address: RedisAddress
    /// The directory with its data.
    public let directory: String
    /// Holds the shared lock; closed when the process ends or the broker is left.
    private let usersLock: FileLock

    private init(address: RedisAddress, directory: String, usersLock: FileLock) {
        self.address = address
        self.directory = directory
        self.usersLock = usersLock
    }

    /// Joins the server of a directory, or starts it.
    ///
    /// - Parameter directory: where its data is; made if missing, readable by this user only.
    /// - Throws: `BrokerError` that says what to install, or what in the directory is wrong.
    public static func join(_ directory: String) throws(BrokerError) -> EmbeddedBroker {
        let home = try EmbeddedHome(directory)
        let starting = try FileLock(home.startLock)
        try starting.lock(.exclusive)
        defer { starting.unlock() }
        let users = try FileLock(home.usersLock)
        // Waits while a guardian is stopping a server that nobody used.
        try users.lock(.shared)
        let address = try RedisAddress.embedded(home.socket)
        do throws(BrokerError) { try EmbeddedGuardian.awaitServer(of: home, address) } catch {
            users.unlock()
            throw error
        }
        return EmbeddedBroker(address: address, directory: home.directory, usersLock: users)
    }

    /// The directory that is meant when none is named: `$ERRAND_HOME`, else `$XDG_STATE_HOME/errand`, else
    /// `~/.local/state/errand`.
    public static func defaultDirectory(environment: [String: String]) -> String {
        if let home = environment["ERRAND_HOME"], !home.isEmpty { return home }
        if let state = environment["XDG_STATE_HOME"], !state.isEmpty { return state + "/errand" }
        return (environment["HOME"] ?? NSHomeDirectory()) + "/.local/state/errand"
    }

    /// Leaves the server; it ends when nobody else uses it.
    public func leave() { usersLock.unlock() }

    /// Why the server cannot write its data to its disk; `nil` when it can, or does not answer.
    ///
    /// It then goes on after the last process has left, with what it could not write in memory only, until it can.
    public var diskTrouble: String? {
        guard case .error(let text) = Self.ping(address), ServerError(text).isDiskTrouble else { return nil }
        return ServerError(text).text
    }

    /// Whether the server serves. One that cannot write to its disk can be read all the same.
    static func isAnswering(_ address: RedisAddress) -> Bool {
        switch ping(address) {
        case .status("PONG"): true
        case .error(let text): ServerError(text).isDiskTrouble
        default: false
        }
    }

    private static func ping(_ address: RedisAddress) -> RESPValue? {
        let options = ConnectionOptions(connectTimeout: .seconds(1), commandTimeout: .seconds(1))
        guard var context = try? HiredisContext.greeted(address, options) else { return nil }
        return try? context.roundTrip(CommandWriter.command("PING").bytes, replies: 1).first
    }
}
