public import Errand
public import Logging

/// The broker over a Redis server, through hiredis over TCP or a Unix socket.
///
/// Every transition is one Lua script, so it happens wholly or not at all; `docs/data-model.md` says what each does.
/// One connection on a thread of its own serves all calls; heartbeats and subscriptions have their own.
///
/// ```swift
/// let broker = try RedisBroker(url: "redis://127.0.0.1:6379")
/// defer { broker.close() }
/// ```
public final class RedisBroker: Broker {
    /// Where the server is.
    public let address: RedisAddress
    let options: ConnectionOptions
    let logger: Logger
    let connection: Connection
    let batcher = PushBatcher()
    /// What only the server and this broker know: who may merely publish must not be able to hand a job over.
    package let hintSecret =
        String(UInt64.random(in: 0 ... .max), radix: 36) + String(UInt64.random(in: 0 ... .max), radix: 36)
    let overrides: ScriptOverrides?

    /// Makes a broker. It connects with the first call.
    ///
    /// - Parameters:
    ///   - address: where the server is.
    ///   - options: timeouts, and for how long calls wait for a connection.
    ///   - logger: gets debug messages of lost and new connections, and a warning of each push whose outcome is unknown; the
    ///     task's unless said.
    public convenience init(
        _ address: RedisAddress,
        options: ConnectionOptions = ConnectionOptions(),
        logger: Logger = .current
    ) {
        self.init(address, options: options, logger: logger, overrides: nil)
    }

    /// Makes a broker of a URL. It connects with the first call.
    ///
    /// - Parameters:
    ///   - url: `redis://[user[:password]@]host[:port][/db]` or `unix:///path/to/socket[?db=n]`.
    ///   - options: timeouts, and for how long calls wait for a connection.
    ///   - logger: gets debug messages of lost and new connections, and a warning of each push whose outcome is unknown; the
    ///     task's unless said.
    /// - Throws: `BrokerError` when the URL is none of these; its message never holds the password.
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

    /// Closes the connection. Calls that wait fail with `closed`.
    public func close() { connection.close() }

    /// Asks the server whether it is there and lets this user in; also where it takes no writes for the moment because its disk
    /// is full, or does not permit the user to ask.
    public func ping() async throws(BrokerError) {
        guard case .error(let text)? = try await connection.send(.command("PING")).first else { return }
        let error = ServerError(text)
        guard error.isDiskTrouble || error.isOfOneCommand else { throw error.brokerError(at: address) }
    }

    /// Runs a command that is not a script.
    ///
    /// - Parameter isForeign: whether it asks for another library's data.
    package func command(_ words: CommandWriter, isForeign: Bool = false) async throws(BrokerError) -> RESPValue {
        guard let reply = try await connection.send(words).first else { throw unexpected("no reply") }
        if case .error(let text) = reply {
            throw ServerError(text).brokerError(at: address, isForeign: isForeign)
        }
        return reply
    }

    /// Loads a script that is none of the transitions, for measurements, and answers its digest.
    package func load(_ text: [UInt8]) async throws(BrokerError) -> String {
        var words = CommandWriter(capacity: text.count + 64)
        words.begin(3)
        words.add("SCRIPT")
        words.add("LOAD")
        words.add(text)
        guard let digest = try await command(words).text else { throw unexpected("no digest") }
        return digest
    }

    /// Runs a script; while the server cannot serve for the moment (it is loading, say), tries again until patience
    /// ends.
    ///
    /// - Parameter patience: for how long, if not as long as usual.
    func run(_ call: ScriptCall, patience: Duration? = nil) async throws(BrokerError) -> RESPValue {
        var retrying = RefusedCall(patience: patience ?? options.patience)
        var byDigest = true
        var call = call
        if let overrides { call.script = overrides.script(call.script) }
        while true {
            guard let reply = try await connection.send(call.command(byDigest: byDigest)).first else {
                throw unexpected("no reply")
            }
            guard case .error(let text) = reply else {
                if options.confirmsWrites ?? address.isEmbedded, call.script.isReliedOn { try await confirmWrite() }
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
            // Who is cancelled meanwhile hears what is true: that it was not carried out, and why.
            do { try await Task.sleep(for: pause) } catch { throw refusal }
        }
    }

    /// Why the server takes no changes now: it cannot write to its disk, say, or is a replica; `nil` where it takes them.
    package func refusalOfWrites() async -> BrokerError? {
        // A script that may write is refused as a whole, before it does anything.
        var call = ScriptCall(.audit, on: "default")
        call.add(0)
        call.add("keys")
        do throws(BrokerError) { _ = try await run(call, patience: .zero) } catch {
            if error.code == .notReachable { return error }
        }
        return nil
    }

    /// Asks whether the server could write to its disk what it has just acknowledged: it writes before it replies, but replies
    /// all the same when the first write fails, and refuses only what it reads after that.
    private func confirmWrite() async throws(BrokerError) {
        let reply: RESPValue?
        do throws(BrokerError) { reply = try await connection.send(.command("PING")).first } catch {
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
