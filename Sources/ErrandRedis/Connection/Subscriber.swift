import Backgroundable
package import Errand
import Foundation
package import Logging
import Synchronization

/// A subscription to channels of one server on its own thread and connection.
///
/// Messages may be lost while it is disconnected. It reconnects until it is cancelled, and then calls `onSubscribed`,
/// so that its owner can check the state again. It checks a silent connection with a PING, and drops it if no reply
/// comes. Its channels can be changed while it runs.
package final class Subscriber: Subscription {
    /// How long the connection may be silent before a PING, in milliseconds.
    private static let silence = 5000
    /// After a subscription of this length, a loss is unrelated to the loss before.
    private static let longLife = Duration.seconds(60)

    private let address: RedisAddress
    private let options: ConnectionOptions
    private let kind: Kind
    private let channels: Mutex<Channels>
    private let logger: Logger
    private let onMessage: @Sendable (_ channel: String, _ message: [UInt8]) -> Void
    private let onSubscribed: @Sendable (_ channel: String) -> Void
    private let onRefused: @Sendable (BrokerError) -> Void
    private let onTrouble: @Sendable (ServerError?) -> Void
    private let stop = WakePipe()
    private let isStopped = Atomic(false)
    private let isRefused = Atomic(false)
    private let failures = LastingFailures()

    private struct Channels {
        var all: Set<String>
        /// Those that were named on the present connection.
        var named: Set<String> = []
        /// Those that were confirmed on the present connection.
        var confirmed: Set<String> = []
    }

    /// How to subscribe.
    package enum Kind: Sendable {
        case channels
        case patterns
        /// Channels of a cluster, each of which is on the server that has its slot.
        case shardChannels

        fileprivate var command: String {
            switch self {
            case .channels: "SUBSCRIBE"
            case .patterns: "PSUBSCRIBE"
            case .shardChannels: "SSUBSCRIBE"
            }
        }
    }

    /// Subscribes to channels, or to patterns of channels.
    ///
    /// - Parameters:
    ///   - onSubscribed: Called for each channel when the server has confirmed it, also after a disconnection.
    ///   - onRefused: Called once if the server's user may not read these channels. The subscriber keeps trying, because
    ///     the permissions may change.
    ///   - onTrouble: Called if the connection is lost or another server has the channels, with the server's error if it
    ///     sent one.
    package init(
        _ address: RedisAddress,
        _ options: ConnectionOptions,
        channels: [String],
        kind: Kind = .channels,
        logger: Logger,
        onSubscribed: @escaping @Sendable (_ channel: String) -> Void,
        onRefused: @escaping @Sendable (BrokerError) -> Void,
        onTrouble: @escaping @Sendable (ServerError?) -> Void = { _ in },
        onMessage: @escaping @Sendable (_ channel: String, _ message: [UInt8]) -> Void
    ) {
        self.address = address
        self.options = options
        self.logger = logger
        self.onMessage = onMessage
        self.onSubscribed = onSubscribed
        self.onRefused = onRefused
        self.onTrouble = onTrouble
        self.kind = kind
        self.channels = Mutex(Channels(all: Set(channels)))
        DedicatedThread.start("errand-subscriber") { [self] in run() }
    }

    /// Subscribes to these channels from now on. Those that remain are not interrupted, and messages on others may still
    /// come.
    func set(_ channels: [String]) {
        self.channels.withLock { $0.all = Set(channels) }
        stop.wake()
    }

    /// Sends the subscriptions to channels that were not named on this connection.
    private func subscribe(on context: inout HiredisContext) throws(BrokerError) {
        let missing = channels.withLock { channels in
            let missing = channels.all.subtracting(channels.named)
            channels.named.formUnion(missing)
            return missing.sorted()
        }
        guard !missing.isEmpty else { return }
        context.append(command(missing).bytes)
        try context.flush()
    }

    /// A command names channels of one slot only if they are of shards.
    private func command(_ channels: [String]) -> CommandWriter {
        var words = CommandWriter()
        let groups =
            kind == .shardChannels ? Array(Dictionary(grouping: channels, by: { HashSlot.of($0) }).values) : [channels]
        for group in groups {
            words.begin(1 + group.count)
            words.add(kind.command)
            for channel in group { words.add(channel) }
        }
        return words
    }

    package func cancel() {
        isStopped.store(true, ordering: .releasing)
        stop.wake()
    }

    private var stopped: Bool { isStopped.load(ordering: .acquiring) }

    private func run() {
        var backoff = Backoff()
        while !stopped {
            let began = ContinuousClock.now
            do throws(BrokerError) {
                var context = try HiredisContext.greeted(address, options)
                channels.withLock { ($0.named, $0.confirmed) = ([], []) }
                try subscribe(on: &context)
                try listen(on: &context, &backoff)
            } catch {
                if !stopped { onTrouble(nil) }
                noteLoss(error, after: .now - began)
            }
            if !stopped { stop.wait(milliseconds: Int(backoff.next() * 1000)) }
        }
    }

    /// Logs a loss; repeated losses are warnings: messages are missed each time, and their effects are delayed.
    private func noteLoss(_ error: BrokerError, after life: Duration) {
        if life > Self.longLife { failures.clear("subscription") }
        logger.log(
            level: failures.note("subscription") ? .warning : .debug,
            "subscription lost; it is made again",
            metadata: ["broker.address": "\(address)", "error": "\(error)"]
        )
    }

    private func listen(on context: inout HiredisContext, _ backoff: inout Backoff) throws(BrokerError) {
        var asked = false
        while true {
            switch stop.wait(milliseconds: Self.silence, or: context.descriptor) {
            case .woken:
                if stopped { return }
                try subscribe(on: &context)
            case .readable:
                asked = false
                for reply in try context.arrived() { try take(reply, &backoff) }
            case .silent:
                if asked { throw BrokerError(.notReachable, "no answer to PING") }
                asked = true
                context.append(CommandWriter.command("PING").bytes)
                try context.flush()
            }
        }
    }

    /// Notes a confirmation. Returns whether all channels are confirmed.
    private func confirm(_ channel: String) -> Bool {
        channels.withLock { channels in
            channels.confirmed.insert(channel)
            return channels.confirmed.isSuperset(of: channels.all)
        }
    }

    /// Missing permissions are probably intended, so they are reported; a rejected password may be about to change.
    private func refusal(_ reason: ServerError) -> BrokerError {
        let error = reason.brokerError(at: address)
        if reason.isMoved { onTrouble(reason) }
        if reason.word == "NOPERM", !isRefused.exchange(true, ordering: .relaxed) { onRefused(error) }
        return error
    }

    /// Handles `[message, channel, text]`, `[pmessage, pattern, channel, text]`, `[subscribe, channel, count]` and
    /// `[sunsubscribe, channel, count]`, and ignores other replies.
    private func take(_ reply: RESPValue, _ backoff: inout Backoff) throws(BrokerError) {
        if case .error(let text) = reply {
            let error = ServerError(text)
            // This is the reply to a PING; messages still arrive.
            if error.isDiskTrouble { return }
            throw refusal(error)
        }
        guard let parts = reply.elements, let kind = parts.first?.text, parts.count >= 3 else { return }
        switch kind {
        case "message", "smessage":
            if let channel = parts[1].text, let message = parts[2].bytes { onMessage(channel, message) }
        case "pmessage" where parts.count == 4:
            if let channel = parts[2].text, let message = parts[3].bytes { onMessage(channel, message) }
        case "subscribe", "psubscribe", "ssubscribe":
            guard let channel = parts[1].text else { return }
            // Not earlier: a server that accepts the connection but refuses a subscription must not be retried without a
            // pause.
            if confirm(channel) { backoff.reset() }
            onSubscribed(channel)
        // The server sends this by itself when another server of the cluster has taken the slot over.
        case "sunsubscribe" where channels.withLock({ $0.all.contains(parts[1].text ?? "") }):
            throw BrokerError(.notReachable, "\(address) no longer has the slot of the channel")
        default: break
        }
    }
}
