import Backgroundable
public import Errand
import Logging
import Synchronization

extension RedisBroker {
    /// Starts a thread with its own connection that sends the heartbeats for all queues in one round trip.
    public func startHeartbeat(
        of session: Session,
        on queues: [String],
        every interval: Duration,
        begun: @escaping @Sendable (_ queue: String) -> Token,
        onBeat: @escaping @Sendable (_ queue: String, _ beat: Result<Beat, BrokerError>) -> Void
    ) -> any Heartbeat {
        ServerHeartbeats(
            PerServer(servers, queues) { [servers, options, overrides] server, isSharded, queues in
                RedisHeartbeat(
                    server,
                    servers,
                    isSharded: isSharded,
                    options,
                    overrides,
                    session,
                    queues,
                    interval,
                    begun,
                    onBeat
                )
            } stop: {
                $0.stop()
            }
        )
    }
}

/// The heartbeats to all servers that have the session's queues.
private struct ServerHeartbeats: Heartbeat {
    private let all: PerServer<RedisHeartbeat>

    init(_ all: PerServer<RedisHeartbeat>) { self.all = all }

    func beatNow() { all.forEach { $0.beatNow() } }
    func stop() { all.cancel() }
}

/// Heartbeats to one server on a separate thread and connection, so that neither a handler that blocks every thread of the pool nor a
/// large reply on the other connection delays them.
final class RedisHeartbeat: Sendable {
    private let address: RedisAddress
    private let servers: Servers
    private let isSharded: Bool
    private let options: ConnectionOptions
    private let overrides: ScriptOverrides?
    private let session: Session
    private let queues: [String]
    private let interval: Duration
    private let begun: @Sendable (String) -> Token
    private let onBeat: @Sendable (String, Result<Beat, BrokerError>) -> Void
    private let isStopped = Atomic(false)
    private let nudge = WakePipe()

    init(
        _ address: RedisAddress,
        _ servers: Servers,
        isSharded: Bool,
        _ options: ConnectionOptions,
        _ overrides: ScriptOverrides?,
        _ session: Session,
        _ queues: [String],
        _ interval: Duration,
        _ begun: @escaping @Sendable (String) -> Token,
        _ onBeat: @escaping @Sendable (String, Result<Beat, BrokerError>) -> Void
    ) {
        self.address = address
        self.servers = servers
        self.isSharded = isSharded
        var options = options
        // A reply after the end of the lease is useless, and a hanging connection must be detected well before.
        options.connectTimeout = min(options.connectTimeout, max(session.lease / 2, .milliseconds(500)))
        options.commandTimeout = min(options.commandTimeout, max(session.lease / 2, .milliseconds(500)))
        options.clientName += "-heartbeat"
        self.options = options
        self.overrides = overrides
        self.session = session
        self.queues = queues
        self.interval = interval
        self.begun = begun
        self.onBeat = onBeat
        DedicatedThread.start("errand-heartbeat") { [self] in run() }
    }

    func beatNow() { nudge.wake() }

    func stop() {
        isStopped.store(true, ordering: .releasing)
        nudge.wake()
    }

    private var stopped: Bool { isStopped.load(ordering: .acquiring) }

    private func run() {
        var backoff = Backoff()
        while !stopped {
            do throws(BrokerError) {
                var context = try HiredisContext.greeted(address, options)
                while !stopped {
                    guard try beat(over: &context) else { break }
                    backoff.reset()
                    nudge.wait(milliseconds: interval.wholeMilliseconds)
                }
                if !stopped { pause(&backoff) }
            } catch {
                servers.refresh()
                for queue in queues where !stopped { onBeat(queue, .failure(error)) }
                pause(&backoff)
            }
        }
    }

    private func pause(_ backoff: inout Backoff) {
        nudge.wait(milliseconds: min(Int(backoff.next() * 1000), interval.wholeMilliseconds))
    }

    /// Sends the heartbeats for all queues in one round trip. Returns whether to keep this server; `false` if the master has
    /// become a replica, and another server must be found.
    private func beat(over context: inout HiredisContext) throws(BrokerError) -> Bool {
        if context.isStale { throw BrokerError(.notReachable, "the broker closed the connection") }
        let replies = try context.roundTrip(
            queues.flatMap { call(for: $0).command(byDigest: true, isSharded: isSharded).bytes },
            replies: queues.count
        )
        var isUsable = true
        for (queue, reply) in zip(queues, replies) {
            var reply = reply
            if case .error(let text) = reply, ServerError(text).word == "NOSCRIPT" {
                reply = try context.roundTrip(
                    call(for: queue).command(byDigest: false, isSharded: isSharded).bytes,
                    replies: 1
                )[0]
            }
            if case .error(let text) = reply, ServerError(text).wantsNewConnection { isUsable = false }
            if !stopped { onBeat(queue, answer(from: reply)) }
        }
        return isUsable
    }

    private func call(for queue: String) -> ScriptCall {
        var call = ScriptCall.beat(of: session, on: queue, begun: begun(queue))
        if let overrides { call.script = overrides.script(call.script) }
        return call
    }

    private func answer(from reply: RESPValue) -> Result<Beat, BrokerError> {
        if case .error(let text) = reply {
            let error = ServerError(text)
            if error.isMoved { servers.redirected(error, by: address) }
            return .failure(error.brokerError(at: address, in: .heartbeat))
        }
        guard let beat = Beat(reply) else {
            return .failure(
                BrokerError(
                    .protocolViolation,
                    "\(address) sent a reply to a heartbeat that this version of Errand cannot read; use one version in all programs"
                )
            )
        }
        return .success(beat)
    }
}

extension RedisBroker {
    /// Sends one heartbeat over the connection of the other calls; for checks, which need no separate thread.
    package func beat(of session: Session, on queue: String, begun: Token) async throws(BrokerError) -> Beat {
        let reply = try await run(.beat(of: session, on: queue, begun: begun))
        guard let beat = Beat(reply) else { throw unexpected("a heartbeat's answer") }
        return beat
    }
}

extension ScriptCall {
    fileprivate static func beat(of session: Session, on queue: String, begun: Token) -> ScriptCall {
        var call = ScriptCall(.heartbeat, on: queue)
        call.add(session.id)
        call.add(session.lease.wholeMilliseconds)
        call.add(begun)
        return call
    }
}
