public import Errand
public import Logging
import Synchronization

/// The broker over a Redis server, the master that sentinels name, or a cluster, through hiredis over TCP or a Unix
/// socket.
///
/// Every transition is one Lua script, so it happens completely or not at all; `docs/data-model.md` describes each. One
/// connection to each server, on a dedicated thread, serves all calls; heartbeats and subscriptions have their own
/// connections.
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
    let servers: Servers
    let batcher = PushBatcher()
    /// A secret of the server and this broker: a client that may only publish must not be able to dispatch a job.
    package let wakeUpSecret =
        String(UInt64.random(in: 0 ... .max), radix: 36) + String(UInt64.random(in: 0 ... .max), radix: 36)
    let overrides: ScriptOverrides?
    /// The queues that the registry may lack, because its server did not answer.
    let unregistered = Mutex<Set<String>>([])

    /// Makes a broker. It connects with the first call.
    ///
    /// - Parameters:
    ///   - address: The address of the server.
    ///   - options: Timeouts, and for how long calls wait for a connection.
    ///   - logger: Receives a warning while a server cannot be reached, a notice when it is back, and a warning for each
    ///     push with an unknown outcome. The default is the logger of the current task.
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
    ///   - url: An address as ``RedisAddress`` describes it, such as `redis://[user:password@]host[:port][/db]`.
    ///   - options: Timeouts, and for how long calls wait for a connection.
    ///   - logger: Receives a warning while a server cannot be reached, a notice when it is back, and a warning for each
    ///     push with an unknown outcome. The default is the logger of the current task.
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
        servers = Servers(address, options, logger: logger)
    }

    /// Closes all connections. Waiting calls fail with `closed`.
    public func close() { servers.close() }

    /// Checks that the server is reachable and accepts this user.
    ///
    /// Also succeeds if the server takes no writes at present because its disk is full, or if the user may not call
    /// PING.
    ///
    /// - Throws: `BrokerError` if the server cannot be reached or rejects the user.
    public func ping() async throws(BrokerError) {
        var retrying = RefusedCall(patience: options.patience, connecting: options.patience)
        let (replies, route) = try await replies(from: .anywhere, &retrying) { _ in .command("PING") }
        guard case .error(let text)? = replies.first else { return }
        let error = ServerError(text)
        guard error.isDiskTrouble || error.isOfOneCommand else { throw error.brokerError(at: route.address) }
    }

    /// Sends commands to the server of their place, and to another one when that place has moved. All calls pass through
    /// here.
    ///
    /// - Returns: A reply to each command, and where they come from.
    private func replies(
        from place: CommandPlace,
        _ retrying: inout RefusedCall,
        waiting: Int? = nil,
        to commands: (Servers.Route) -> CommandWriter
    ) async throws(BrokerError) -> (replies: [RESPValue], route: Servers.Route) {
        while true {
            let patience = retrying.connectionDeadline
            guard let route = try await servers.route(to: place, waiting: waiting, until: patience) else {
                servers.refresh()
                try await pause(&retrying, or: unserved)
                continue
            }
            let deadline = route.isSharded ? retrying.connectionDeadline(for: place) : patience
            let replies: [RESPValue]
            do throws(BrokerError) { replies = try await route.connection.send(commands(route), until: deadline) } catch
            {
                // The server has left the cluster, or is lost and another one will do, and nothing was sent.
                if error.code == .closed, !servers.isClosed { continue }
                if error.code == .notReachable, case .anywhere = place, deadline < patience {
                    continue
                }
                throw error
            }
            guard case .error(let text)? = replies.first, ServerError(text).isMoved else {
                if replies.isEmpty { throw unexpected("a reply") }
                if case .error(let text)? = replies.first, ServerError(text).isOfUnknownCommand {
                    try await refuseSentinel(at: route)
                }
                return (replies, route)
            }
            let moved = ServerError(text)
            servers.redirected(moved, by: route.address)
            if !retrying.mayFollowRedirection() {
                try await pause(&retrying, or: moved.brokerError(at: route.address))
            }
        }
    }

    private var unserved: BrokerError {
        BrokerError(
            .notReachable,
            "\(address): no server of the cluster serves the part of the keys (the slot) that this call needs; see CLUSTER INFO"
        )
    }

    /// Waits before the next try.
    ///
    /// - Throws: The problem if there is no time left. A cancelled caller gets it as well: the call was not carried out,
    ///   and why.
    private func pause(_ retrying: inout RefusedCall, or problem: BrokerError) async throws(BrokerError) {
        guard let pause = retrying.pause() else { throw problem }
        do { try await Task.sleep(for: pause) } catch { throw problem }
    }

    /// Runs a command that is not a script.
    ///
    /// - Parameters:
    ///   - place: What the command is about.
    ///   - isForeign: Whether it reads another library's data.
    ///   - patience: How long to try, if not for the patience of the options.
    package func command(
        _ words: CommandWriter,
        for place: CommandPlace,
        isForeign: Bool = false,
        patience: Duration? = nil
    ) async throws(BrokerError) -> RESPValue {
        let patience = patience ?? options.patience
        var retrying = RefusedCall(patience: patience, connecting: patience)
        while true {
            let (replies, route) = try await replies(from: place, &retrying) { _ in words }
            guard case .error(let text) = replies[0] else { return replies[0] }
            let error = ServerError(text)
            let refusal = error.brokerError(at: route.address, isForeign: isForeign)
            guard error.isOfCluster else { throw refusal }
            servers.refresh()
            try await pause(&retrying, or: refusal)
        }
    }

    /// Loads a script that is not a transition, for measurements, and returns its digest.
    ///
    /// - Parameter place: The server that gets it.
    package func load(_ text: [UInt8], for place: CommandPlace) async throws(BrokerError) -> String {
        var words = CommandWriter(capacity: text.count + 64)
        words.begin(3)
        words.add("SCRIPT")
        words.add("LOAD")
        words.add(text)
        guard let digest = try await command(words, for: place).text else { throw unexpected("no digest") }
        return digest
    }

    /// Runs a script. While the server cannot serve temporarily, for example because it is loading, retries until the
    /// patience ends.
    ///
    /// - Parameters:
    ///   - patience: How long to retry, if not for the patience of the options.
    ///   - replicas: How many replicas must have the change, or it fails with `outcomeUnknown`.
    func run(
        _ call: ScriptCall,
        patience: Duration? = nil,
        replicas: Int = 0
    ) async throws(BrokerError) -> RESPValue {
        var retrying = RefusedCall(patience: patience ?? options.patience, connecting: options.patience)
        guard QueueName.isValid(call.queue) else { throw BrokerError(invalidQueue: call.queue) }
        var byDigest = true
        var call = call
        if let overrides { call.script = overrides.script(call.script) }
        let waiting = replicas > 0 ? HashSlot.of(queue: call.queue) % Self.waitingConnections : nil
        while true {
            let (replies, route) = try await replies(from: .queue(call.queue), &retrying, waiting: waiting) {
                call.command(byDigest: byDigest, isSharded: $0.isSharded, replicas: replicas, within: replicaTimeout)
            }
            guard case .error(let text) = replies[0] else {
                if replicas > 0 { try checkReplicas(replies.last, replicas, route.address) }
                if options.confirmsWrites ?? address.isEmbedded, call.script.isReliedOn {
                    try await confirmWrite(over: route)
                }
                return replies[0]
            }
            let error = ServerError(text)
            if error.word == "NOSCRIPT", byDigest {
                byDigest = false
                continue
            }
            if error.isOfCluster { servers.refresh() }
            let refusal = error.brokerError(at: route.address, in: call.script)
            guard error.isPassing, let pause = retrying.pause() else { throw refusal }
            if call.script.isReliedOn, retrying.isWorthTelling(after: pause) {
                options.onRefusal?(error.reasonToWait, retrying.left)
            }
            // A cancelled caller gets the actual error: the script was not carried out, and why.
            do { try await Task.sleep(for: pause) } catch { throw refusal }
        }
    }

    /// How many connections to a server may wait for replicas, so that queues seldom wait for each other's pushes.
    private static let waitingConnections = 8

    /// WAIT has to reply before the connection's own timeout.
    private var replicaTimeout: Duration { options.commandTimeout / 2 }

    private func checkReplicas(
        _ reply: RESPValue?,
        _ replicas: Int,
        _ server: RedisAddress
    ) throws(BrokerError) {
        if case .error(let text)? = reply {
            throw BrokerError(
                .outcomeUnknown,
                "\(server) accepted this, but refused to wait for replicas: \(ServerError(text).text)"
            )
        }
        let count = reply?.number ?? 0
        guard count < replicas else { return }
        throw BrokerError(
            .outcomeUnknown,
            "\(server) accepted this, but only \(count) of \(replicas) replicas had it within \(replicaTimeout): it is lost if "
                + "the server fails before they have it; look at the replicas (INFO replication)"
        )
    }

    /// Returns the servers that have queues: one, or all masters of the cluster.
    package func allServers() async throws(BrokerError) -> [RedisAddress] {
        try await servers.all(until: .now + options.patience)
    }

    /// Returns the server that has a queue. Of sentinels it is the address that was given.
    package func server(of queue: String) async throws(BrokerError) -> RedisAddress {
        guard let route = try await servers.route(to: .queue(queue), until: .now + options.patience) else {
            throw unserved
        }
        return route.address
    }

    /// Whether the servers form a cluster.
    package func isCluster() async throws(BrokerError) -> Bool {
        _ = try await allServers()
        return servers.shards != nil
    }

    /// Returns the error if one of the servers cannot be reached or takes no changes now, for example because it cannot
    /// write to its disk or is a replica; `nil` if all take them.
    package func refusalOfWrites() async -> BrokerError? {
        // A server refuses a script that may write as a whole, before it does anything.
        let script = CommandWriter.command("EVAL", "#!lua\nreturn 1", "0")
        do throws(BrokerError) {
            for server in try await allServers() { _ = try await command(script, for: .server(server)) }
        } catch {
            if error.code == .notReachable { return error }
        }
        return nil
    }

    /// Checks whether the server could write to its disk what it has just acknowledged. The server writes before it
    /// replies, but acknowledges the first write that fails, and refuses only the commands that it reads later.
    private func confirmWrite(over route: Servers.Route) async throws(BrokerError) {
        let reply: RESPValue?
        do throws(BrokerError) { reply = try await route.connection.send(.command("PING")).first } catch {
            throw BrokerError(
                .outcomeUnknown,
                "\(route.address) did not confirm that it could write to its disk: \(error)"
            )
        }
        guard case .error(let text)? = reply, ServerError(text).isDiskTrouble else { return }
        throw BrokerError(
            .outcomeUnknown,
            "\(address) accepted this and could not write it to its disk: it is lost if the server stops before it can: "
                + "\(ServerError(text).text). Make room on the server's disk"
        )
    }

    func unexpected(_ what: String) -> BrokerError {
        BrokerError(
            .protocolViolation,
            "\(address) sent a reply that this version of Errand cannot read (\(what)); use one version in all "
                + "programs, and check that the address is that of a Redis or Valkey server"
        )
    }
}
