import Errand
import Logging
import Synchronization

/// Subscriptions to the failovers that sentinels announce.
///
/// Without them, a client would notice a failover with the next call that the old master cannot serve, and would not notice
/// it at all if the old master is cut off from its replicas, but not from the client. All sentinels are heard, because those
/// beside such a master do not know of the failover. The one with the highest epoch is right.
final class FailoverWatch: Sendable {
    private let subscribers: [Subscriber]

    /// Starts a subscription to each sentinel.
    ///
    /// - Parameter onFailover: Called with a sentinel that knows of the latest failover, when others may not.
    init(
        _ sentinels: RedisAddress.Sentinels,
        _ options: ConnectionOptions,
        logger: Logger,
        onFailover: @escaping @Sendable (HostAndPort) -> Void
    ) {
        let latest = LatestFailover()
        subscribers = sentinels.places.map { place in
            let query = SentinelQuery(sentinels, place, options)
            let check: @Sendable () -> Void = {
                do throws(BrokerError) {
                    if let knowing = latest.note(try query.epoch(), place) { onFailover(knowing) }
                } catch { logger.debug("a sentinel did not report its epoch", metadata: ["error": "\(error)"]) }
            }
            return Subscriber(
                RedisAddress(sentinels, at: place),
                options,
                channels: ["+switch-master"],
                logger: logger,
                // An announcement may have been missed before.
                onSubscribed: { _ in check() },
                onRefused: { logger.debug("a sentinel cannot be heard", metadata: ["error": "\($0)"]) }
            ) { _, message in
                // The master's name, and the old and the new address.
                let name = message.prefix { $0 != UInt8(ascii: " ") }
                if name.elementsEqual(sentinels.master.utf8) { check() }
            }
        }
    }

    /// Ends all subscriptions.
    func cancel() { for subscriber in subscribers { subscriber.cancel() } }
}

/// The latest failover of which a sentinel has reported.
final class LatestFailover: Sendable {
    private struct State {
        var epoch: Int64
        var sentinel: HostAndPort
        /// Whether it was returned, or no sentinel disagreed.
        var isKnown = false
    }

    private let state = Mutex<State?>(nil)

    /// Notes the epoch of a sentinel.
    ///
    /// - Returns: The sentinel with the highest epoch when it is known that another one had a lower one; once for each
    ///   epoch.
    func note(_ epoch: Int64, _ sentinel: HostAndPort) -> HostAndPort? {
        state.withLock { state in
            guard var latest = state else {
                state = State(epoch: epoch, sentinel: sentinel)
                return nil
            }
            if epoch > latest.epoch {
                latest = State(epoch: epoch, sentinel: sentinel)
            } else if epoch == latest.epoch || latest.isKnown {
                return nil
            }
            latest.isKnown = true
            state = latest
            return latest.sentinel
        }
    }
}
