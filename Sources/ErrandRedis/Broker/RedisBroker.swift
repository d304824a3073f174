public import Errand
public import Logging

/// The broker over a Redis server, through hiredis over TCP or a Unix socket.
///
/// Every transition is one Lua script, so it happens completely or not at all; `docs/data-model.md` describes each. One
/// connection on a dedicated thread serves all calls; heartbeats and subscriptions have their own connections.
///
/// ```swift
/// let broker = try RedisBroker(url: "redis://127.0.0.1:6379")
/// defer { broker.close() }
/// ```
public final class RedisBroker: Broker {
    /// The address of the server.
    public let address: RedisAddress
    let options: ConnectionOptions
    let logger: Logger
    let connection: Connection
    let batcher = PushBatcher()
    /// A secret of the server and this broker: a client that may only publish must not be able to dispatch a job.
    package let wakeUpSecret =
        String(UInt64.random(in: 0 ... .max), radix: 36) + String(UInt64.random(in: 0 ... .max), radix: 36)
    let overrides: ScriptOverrides?

    /// Makes a broker. It connects with the first call.
    ///
    /// - Parameters:
    ///   - address: The address of the server.
    ///   - options: Timeouts, and for how long calls wait for a connection.
    ///   - logger: Receives debug messages about lost and new connections, and a warning for each push with an unknown
    ///     outcome. The default is the logger of the current task.
    public convenience init(
        _ address: RedisAddress,
        options: ConnectionOptions = ConnectionOptions(),
        logger: Logger = .current
    ) {
        self.init(address, options: options, logger: logger, overrides: nil)
    }

    /// Makes a broker from a URL. It connects with the first call.
    ///
    /// - Parameters:
    ///   - url: `redis://[user[:password]@]host[:port][/db]` or `unix:///path/to/socket[?db=n]`.
    ///   - options: Timeouts, and for how long calls wait for a connection.
    ///   - logger: Receives debug messages about lost and new connections, and a warning for each push with an unknown
    ///     outcome. The default is the logger of the current task.
    /// - Throws: `BrokerError` if the URL is invalid; its message never contains the password.
    public convenience init(
        url: String,
        options: ConnectionOptions = ConnectionOptions(),
        logger: Logger = .current
    ) throws(BrokerError) {
        self.init(try RedisAddress(url: url), options: options, logger: logger, overrides: nil)
    }

    /// Makes a broker that runs edited scripts.
    package init(
        _ address: RedisAddress,
        options: ConnectionOptions = ConnectionOptions(),
        logger: Logger,
        overrides: ScriptOverrides?
    ) {
        self.address = address
        self.overrides = overrides
        self.options = options
        self.logger = logger
        connection = Connection(address, options, logger: logger)
    }

    /// Closes the connection. Waiting calls fail with `closed`.
    public func close() { connection.close() }

    /// Checks that the server is reachable and accepts this user.
    ///
    /// Also succeeds if the server takes no writes at present because its disk is full, or if the user may not call
    /// PING.
    ///
    /// - Throws: `BrokerError` if the server cannot be reached or rejects the user.
    public func ping() async throws(BrokerError) {
        guard case .error(let text) = try await reply(to: .command("PING"), for: nil) else { return }
        let error = ServerError(text)
        guard error.isDiskTrouble || error.isOfOneCommand else { throw error.brokerError(at: address) }
    }

    /// Sends a command to the server of a queue; `nil` for commands on the registry or the server itself. All calls
    /// pass through here.
    private func reply(to command: CommandWriter, for queue: String?) async throws(BrokerError) -> RESPValue {
        guard let reply = try await connection(of: queue).send(command).first else { throw unexpected("no reply") }
        return reply
    }

    /// The connection to the server of a queue. At present one server has all queues.
    private func connection(of queue: String?) -> Connection { connection }

    /// Runs a command that is not a script.
    ///
    /// - Parameters:
    ///   - queue: The queue whose keys it uses; `nil` for commands on the registry or the server itself.
    ///   - isForeign: Whether it reads another library's data.
    package func command(
        _ words: CommandWriter,
        for queue: String? = nil,
        isForeign: Bool = false
    ) async throws(BrokerError) -> RESPValue {
        let reply = try await reply(to: words, for: queue)
        if case .error(let text) = reply {
            throw ServerError(text).brokerError(at: address, isForeign: isForeign)
        }
        return reply
    }

    /// Loads a script that is not a transition, for measurements, and returns its digest.
    package func load(_ text: [UInt8]) async throws(BrokerError) -> String {
        var words = CommandWriter(capacity: text.count + 64)
        words.begin(3)
        words.add("SCRIPT")
        words.add("LOAD")
        words.add(text)
        guard let digest = try await command(words).text else { throw unexpected("no digest") }
        return digest
    }

    /// Runs a script. While the server cannot serve temporarily, for example because it is loading, retries until the
    /// patience ends.
    ///
    /// - Parameter patience: How long to retry, if not for the patience of the options.
    func run(_ call: ScriptCall, patience: Duration? = nil) async throws(BrokerError) -> RESPValue {
        var retrying = RefusedCall(patience: patience ?? options.patience)
        var byDigest = true
        var call = call
        if let overrides { call.script = overrides.script(call.script) }
        while true {
            let reply = try await reply(to: call.command(byDigest: byDigest), for: call.queue)
            guard case .error(let text) = reply else {
                if options.confirmsWrites ?? address.isEmbedded, call.script.isReliedOn {
                    try await confirmWrite(to: call.queue)
                }
                return reply
            }
            let error = ServerError(text)
            if error.word == "NOSCRIPT", byDigest {
                byDigest = false
                continue
            }
            let refusal = error.brokerError(at: address, in: call.script)
            guard error.isPassing, let pause = retrying.pause() else { throw refusal }
            if call.script.isReliedOn, retrying.isWorthTelling(after: pause) {
                options.onRefusal?(error.reasonToWait, retrying.left)
            }
            // A cancelled caller gets the actual error: the script was not carried out, and why.
            do { try await Task.sleep(for: pause) } catch { throw refusal }
        }
    }

    /// Returns the error if the server cannot be reached or takes no changes now, for example because it cannot write
    /// to its disk or is a replica; `nil` if it takes them.
    package func refusalOfWrites() async -> BrokerError? {
        // The server refuses a script that may write as a whole, before it does anything.
        var call = ScriptCall(.audit, on: "default")
        call.add(0)
        call.add("keys")
        do throws(BrokerError) { _ = try await run(call, patience: .zero) } catch {
            if error.code == .notReachable { return error }
        }
        return nil
    }

    /// Checks whether the server could write to its disk what it has just acknowledged. The server writes before it
    /// replies, but acknowledges the first write that fails, and refuses only the commands that it reads later.
    private func confirmWrite(to queue: String) async throws(BrokerError) {
        let reply: RESPValue
        do throws(BrokerError) { reply = try await self.reply(to: .command("PING"), for: queue) } catch {
            throw BrokerError(.outcomeUnknown, "\(address) did not confirm that it could write to its disk: \(error)")
        }
        guard case .error(let text) = reply, ServerError(text).isDiskTrouble else { return }
        throw BrokerError(
            .outcomeUnknown,
            "\(address) accepted this and could not write it to its disk: it is lost if the server stops before it can: "
                + "\(ServerError(text).text). Make room on the server's disk"
        )
    }

    func unexpected(_ what: String) -> BrokerError {
        BrokerError(.protocolViolation, "\(address) answered what this version does not understand: \(what)")
    }
}
