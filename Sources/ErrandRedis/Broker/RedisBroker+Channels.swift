public import Errand
import Logging

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
        return Subscriber(
            address,
            options,
            channels: queues.map { KeySpace.wakeUps(of: $0, session.id) },
            logger: logger,
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
            let subscriber = Subscriber(
                address,
                options,
                channels: queues?.map { KeySpace.events(of: $0) } ?? ["errand:{*}:events"],
                arePatterns: queues == nil,
                logger: logger,
                onSubscribed: onSubscribed,
                onRefused: { continuation.finish(throwing: $0) }
            ) { channel, message in
                guard let queue = KeySpace.queue(in: channel) else { return }
                continuation.yield(QueueEvents(queue: queue, message: message))
            }
            continuation.onTermination = { _ in subscriber.cancel() }
        }
    }
}
