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
        // Wake-ups may have been lost before the (new) subscription.
        let hintAll: @Sendable () -> Void = {
            for queue in queues {
                onWakeUp(.stop(queue: queue))
                onWakeUp(.work(queue: queue))
            }
        }
        let (secret, logger) = (wakeUpSecret, logger)
        return subscribe(
            to: queues,
            channel: { KeySpace.wakeUps(of: $0, session.id) },
            onSubscribed: hintAll,
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
            let subscriptions = subscribe(
                to: queues,
                channel: { KeySpace.events(of: $0) },
                onSubscribed: onSubscribed,
                onRefused: { continuation.finish(throwing: $0) }
            ) { channel, message in
                guard let queue = KeySpace.queue(in: channel) else { return }
                continuation.yield(QueueEvents(queue: queue, message: message))
            }
            continuation.onTermination = { _ in subscriptions.cancel() }
        }
    }

    /// Subscribes to one channel of each queue at the server that has it.
    ///
    /// - Parameter queues: The queues; `nil` for all, which on one server is a pattern, and in a cluster the registry's
    ///   queues, which are looked up again every few seconds.
    private func subscribe(
        to queues: [String]?,
        channel: @escaping @Sendable (String) -> String,
        onSubscribed: @escaping @Sendable () -> Void,
        onRefused: @escaping @Sendable (BrokerError) -> Void,
        onMessage: @escaping @Sendable (_ channel: String, _ message: [UInt8]) -> Void
    ) -> any Subscription {
        let (servers, options, logger) = (servers, options, logger)
        let isPattern = queues == nil
        let subscribed = SubscribedServers()
        let wanted = queues ?? ["*"]
        let all = PerServer(servers, wanted) { server, isSharded, queues in
            Subscriber(
                server,
                options,
                channels: queues.map(channel),
                kind: isSharded ? .shardChannels : isPattern ? .patterns : .channels,
                logger: logger,
                onSubscribed: {
                    subscribed.add(server)
                    if isPattern || subscribed.has(servers.groups(of: wanted).groups.keys) { onSubscribed() }
                },
                onRefused: onRefused,
                onTrouble: { $0.map { servers.redirected($0, by: server) } ?? servers.refresh() },
                onMessage: onMessage
            )
        } stop: {
            $0.cancel()
        }
        let looking = isPattern ? Task { await self.keepUp(all) } : nil
        return ServerSubscriptions(all: all, looking: looking)
    }

    /// Replaces the pattern of all queues by the registry's queues, if there is a cluster, and adds new ones.
    private func keepUp(_ all: PerServer<Subscriber>) async {
        while !Task.isCancelled {
            do throws(BrokerError) {
                guard try await isCluster() else { return }
                all.set(try await queues())
            } catch {
                logger.debug("the queues cannot be listed", metadata: ["error": "\(error)"])
            }
            try? await Task.sleep(for: .seconds(2))
        }
    }
}

/// The servers at which a subscription was established.
private final class SubscribedServers: Sendable {
    private let servers = Mutex<Set<RedisAddress>>([])

    func add(_ server: RedisAddress) { servers.withLock { _ = $0.insert(server) } }
    func has(_ all: some Sequence<RedisAddress>) -> Bool { servers.withLock { $0.isSuperset(of: all) } }
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
