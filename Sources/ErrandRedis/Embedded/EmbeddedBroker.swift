public import Errand
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A private redis-server for machines without a configured server: append-only, on a Unix socket, with its data in its
/// own directory. A machine without `redis-server` uses Valkey's `valkey-server`.
///
/// The first process that needs the server starts it, and others join it. It stops when the last of these processes has
/// left or ended in any way. Its data stays. It works as follows:
///
/// - Every process that uses the server holds a shared lock (`flock`) on `users.lock` in the directory. The system
///   releases it when the process ends, also after SIGKILL.
/// - A *guardian*, a small shell script in its own session, starts the server and then waits for an exclusive lock on
///   `users.lock`. It gets the lock when no process uses the server any longer, stops the server, and releases the lock
///   only after the server has ended; a process that arrives meanwhile waits, and then starts a new one. A server with
///   a full disk, which has jobs only in memory, is not stopped: it runs until it has written them, and the next
///   process joins it.
/// - The server holds a lock on `server.lock` while it lives, so that no process mistakes a busy server for a dead one
///   and starts a second one with the same data. The guardian restarts a server that ends while it is in use.
/// - A process that starts the server holds an exclusive lock on `start.lock` meanwhile, so that only one does.
public final class EmbeddedBroker: Sendable {
    /// The address on which the server listens.
    public let address: RedisAddress
    /// The directory with its data.
    public let directory: String
    /// The shared lock; released when the process ends or leaves the broker.
    private let usersLock: FileLock

    private init(address: RedisAddress, directory: String, usersLock: FileLock) {
        self.address = address
        self.directory = directory
        self.usersLock = usersLock
    }

    /// Joins the server of a directory, or starts it.
    ///
    /// - Parameter directory: The directory for its data; created if missing, and only readable by this user.
    /// - Throws: `BrokerError` with the program to install, or the problem in the directory.
    public static func join(_ directory: String) throws(BrokerError) -> EmbeddedBroker {
        let home = try EmbeddedHome(directory)
        let starting = try FileLock(home.startLock)
        try starting.lock(.exclusive)
        defer { starting.unlock() }
        let users = try FileLock(home.usersLock)
        // Waits while a guardian is stopping an unused server.
        try users.lock(.shared)
        let address = try RedisAddress.embedded(home.socket)
        do throws(BrokerError) { try EmbeddedGuardian.awaitServer(of: home, address) } catch {
            users.unlock()
            throw error
        }
        return EmbeddedBroker(address: address, directory: home.directory, usersLock: users)
    }

    /// Returns the default directory: `$ERRAND_HOME`, else `$XDG_STATE_HOME/errand`, else `~/.local/state/errand`.
    public static func defaultDirectory(environment: [String: String]) -> String {
        if let home = environment["ERRAND_HOME"], !home.isEmpty { return home }
        if let state = environment["XDG_STATE_HOME"], !state.isEmpty { return state + "/errand" }
        return (environment["HOME"] ?? NSHomeDirectory()) + "/.local/state/errand"
    }

    /// Leaves the server; it stops if no other process uses it.
    public func leave() { usersLock.unlock() }

    /// The reason why the server cannot write its data to its disk; `nil` if it can, or does not reply.
    ///
    /// Such a server continues to run after the last process has left, with the unwritten data in memory, until it has
    /// written it.
    public var diskTrouble: String? {
        guard case .error(let text) = Self.ping(address), ServerError(text).isDiskTrouble else { return nil }
        return ServerError(text).text
    }

    /// Whether the server serves. A server that cannot write to its disk still serves reads.
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
