public import Errand
import Logging
import Synchronization

extension RedisBroker {
    /// Subscribes to the session's channels on a connection of its own. After each subscription it reports that there
    /// may be work.
    public func wakeUps(
        for session: Session,
        on queues: [String],
        _ onWakeUp: @escaping @Sendable (WakeUp) -> Void
    ) -> any Subscription {
        let (secret, logger) = (wakeUpSecret, logger)
        return subscribe(
            to: queues,
            channel: { KeySpace.wakeUps(of: $0, session.id) },
            onSubscribed: { channel in
                // Wake-ups may have been lost before the (new) subscription.
                guard let queue = KeySpace.queue(in: channel) else { return }
                onWakeUp(.stop(queue: queue))
                onWakeUp(.work(queue: queue))
            },
            onRefused: { error in
                logger.warning(
                    "the server's user may not hear its channels: jobs are found by asking twice a second, and cancellations with a heartbeat",
                    metadata: ["worker.id": "\(session.id)", "error": "\(error)"]
                )
            }
        ) { channel, message in
            guard let queue = KeySpace.queue(in: channel) else { return }
            switch message.first {
            case UInt8(ascii: "w"): onWakeUp(.work(queue: queue))
            case UInt8(ascii: "s"): onWakeUp(.stop(queue: queue))
            case UInt8(ascii: "c"):
                // If the message cannot be parsed, the next call gets the job.
                guard let handed = DispatchedClaim(message, secret: secret) else {
                    return onWakeUp(.work(queue: queue))
                }
                onWakeUp(.claimed(queue: queue, call: handed.call, claim: handed.claim))
            default: break
            }
        }
    }

    /// Subscribes to the queues' channels on a connection of its own. A reader that falls 100,000 messages behind
    /// misses the oldest.
    public func events(
        of queues: [String]?,
        onSubscribed: @escaping @Sendable () -> Void
    ) -> AsyncThrowingStream<QueueEvents, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(100_000)) { continuation in
            let established = EstablishedChannels(queues.map { $0.map { KeySpace.events(of: $0) } }, onSubscribed)
            let subscriptions = subscribe(
                to: queues,
                channel: { KeySpace.events(of: $0) },
                onSubscribed: { established.add($0) },
                onAll: { established.expect($0) },
                onRefused: { continuation.finish(throwing: $0) }
            ) { channel, message in
                guard let queue = KeySpace.queue(in: channel) else { return }
                continuation.yield(QueueEvents(queue: queue, message: message))
            }
            let closing = servers.watch { change in
                if case .closed = change { continuation.finish(throwing: Servers.closed) }
            }
            continuation.onTermination = { _ in
                closing.cancel()
                subscriptions.cancel()
            }
        }
    }

    /// Subscribes to one channel of each queue at the server that has it.
    ///
    /// - Parameters:
    ///   - queues: The queues; `nil` for all, which on one server is a pattern, and in a cluster the registry's queues,
    ///     which are looked up again every few seconds.
    ///   - onSubscribed: Called for each channel or pattern when its server has confirmed it, also after a disconnection.
    ///   - onAll: If `queues` is `nil`: called with the channels or the pattern before they are subscribed to.
    private func subscribe(
        to queues: [String]?,
        channel: @escaping @Sendable (String) -> String,
        onSubscribed: @escaping @Sendable (_ channel: String) -> Void,
        onAll: @escaping @Sendable (_ channels: [String]) -> Void = { _ in },
        onRefused: @escaping @Sendable (BrokerError) -> Void,
        onMessage: @escaping @Sendable (_ channel: String, _ message: [UInt8]) -> Void
    ) -> any Subscription {
        let (servers, options, logger) = (servers, options, logger)
        let isPattern = queues == nil
        let all = PerServer(servers, queues ?? []) { server, isSharded, queues in
            Subscriber(
                server,
                options,
                channels: queues.map(channel),
                kind: isSharded ? .shardChannels : isPattern ? .patterns : .channels,
                logger: logger,
                onSubscribed: onSubscribed,
                onRefused: onRefused,
                onTrouble: { $0.map { servers.redirected($0, by: server) } ?? servers.refresh() },
                onMessage: onMessage
            )
        } stop: {
            $0.cancel()
        } change: {
            $0.set($1.map(channel))
        }
        let looking = isPattern ? Task { await self.keepUp(all, channel, onAll) } : nil
        return ServerSubscriptions(all: all, looking: looking)
    }

    /// Subscribes to the pattern of all queues, or in a cluster to the queues of the registry, and later to new ones.
    private func keepUp(
        _ all: PerServer<Subscriber>,
        _ channel: (String) -> String,
        _ onAll: ([String]) -> Void
    ) async {
        // Also on one server, which may turn out to be one of a cluster's later.
        var known: Set<String> = []
        while !Task.isCancelled {
            do throws(BrokerError) {
                if try await isCluster() {
                    let list = try await QueueList(of: self)
                    // Those that are missing now return with their server.
                    known = list.problem == nil ? Set(list.names) : known.union(list.names)
                } else {
                    known = ["*"]
                }
                onAll(known.map(channel))
                all.set(known.sorted())
            } catch {
                if error.code == .closed { return }
                logger.debug("the queues cannot be listed", metadata: ["error": "\(error)"])
            }
            try? await Task.sleep(for: .seconds(2))
        }
    }
}

/// Which channels of a stream of events were subscribed to.
private final class EstablishedChannels: Sendable {
    private struct State {
        /// All channels of the stream; `nil` if they are not known yet.
        var expected: Set<String>?
        var established: Set<String> = []
        var wasComplete = false

        var isComplete: Bool { expected.map { established.isSuperset(of: $0) } ?? false }
    }

    private let state: Mutex<State>
    private let onComplete: @Sendable () -> Void

    /// - Parameter onComplete: Called when all are established, and again whenever one of them is established anew.
    init(_ expected: [String]?, _ onComplete: @escaping @Sendable () -> Void) {
        state = Mutex(State(expected: expected.map { Set($0) }))
        self.onComplete = onComplete
    }

    /// Notes which channels there are. There may be none.
    func expect(_ channels: [String]) {
        let isFirst = state.withLock { state in
            state.expected = Set(channels)
            return state.isComplete && !state.wasComplete
        }
        if isFirst { complete() }
    }

    func add(_ channel: String) {
        let isComplete = state.withLock { state in
            state.established.insert(channel)
            return state.isComplete
        }
        if isComplete { complete() }
    }

    private func complete() {
        state.withLock { $0.wasComplete = true }
        onComplete()
    }
}

/// Subscriptions at several servers.
private struct ServerSubscriptions: Subscription {
    let all: PerServer<Subscriber>
    let looking: Task<Void, Never>?

    func cancel() {
        looking?.cancel()
        all.cancel()
    }
}
