import Backgroundable
package import Errand
import Foundation
package import Logging
import Synchronization

/// A subscription to channels on a thread and a connection of its own.
///
/// Messages may be lost while it is away; it connects again for as long as it is not cancelled, and says so through
/// `onSubscribed`, so that its owner can look at the state again. A connection that stays silent is asked with a PING
/// and given up when no answer comes.
package final class Subscriber: Subscription {
    /// How long the connection may be silent before it is asked.
    private static let silence = 5000
    /// A subscription that lasted for so long had nothing to do with why the one before was lost.
    private static let longLife = Duration.seconds(60)

    private let address: RedisAddress
    private let options: ConnectionOptions
    private let words: CommandWriter
    private let logger: Logger
    private let onMessage: @Sendable (_ channel: String, _ message: [UInt8]) -> Void
    private let onSubscribed: @Sendable () -> Void
    private let onRefused: @Sendable (BrokerError) -> Void
    private let stop = WakePipe()
    private let isStopped = Atomic(false)
    private let isRefused = Atomic(false)
    private let failures = LastingFailures()

    /// Subscribes to channels, or to patterns of channels.
    ///
    /// - Parameter onRefused: told the first time that the server's user may not read these channels; it is asked on, for that may change.
    package init(
        _ address: RedisAddress,
        _ options: ConnectionOptions,
        channels: [String],
        arePatterns: Bool = false,
        logger: Logger,
        onSubscribed: @escaping @Sendable () -> Void,
        onRefused: @escaping @Sendable (BrokerError) -> Void,
        onMessage: @escaping @Sendable (_ channel: String, _ message: [UInt8]) -> Void
    ) {
        self.address = address
        self.options = options
        self.logger = logger
        self.onMessage = onMessage
        self.onSubscribed = onSubscribed
        self.onRefused = onRefused
        var words = CommandWriter()
        words.begin(1 + channels.count)
        words.add(arePatterns ? "PSUBSCRIBE" : "SUBSCRIBE")
        for channel in channels { words.add(channel) }
        self.words = words
        DedicatedThread.start("errand-subscriber") { [self] in run() }
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
                context.append(words.bytes)
                try context.flush()
                try listen(on: &context, &backoff)
            } catch {
                noteLoss(error, after: .now - began)
            }
            if !stopped { stop.wait(milliseconds: Int(backoff.next() * 1000)) }
        }
    }

    /// One that is lost again and again is for people: each time, messages are missed, and what they tell is noticed later.
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
            case .woken: if stopped { return }
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

    /// Rights are as somebody wanted them; a password that is just being changed is another matter.
    private func refusal(_ reason: ServerError) -> BrokerError {
        let error = reason.brokerError(at: address)
        if reason.word == "NOPERM", !isRefused.exchange(true, ordering: .relaxed) { onRefused(error) }
        return error
    }

    /// `[message, channel, text]`, `[pmessage, pattern, channel, text]`, `[subscribe, channel, count]`; anything else
    /// is passed over.
    private func take(_ reply: RESPValue, _ backoff: inout Backoff) throws(BrokerError) {
        if case .error(let text) = reply {
            let error = ServerError(text)
            // The answer to a PING; messages come all the same.
            if error.isDiskTrouble { return }
            throw refusal(error)
        }
        guard let parts = reply.elements, let kind = parts.first?.text, parts.count >= 3 else { return }
        switch kind {
        case "message":
            if let channel = parts[1].text, let message = parts[2].bytes { onMessage(channel, message) }
        case "pmessage" where parts.count == 4:
            if let channel = parts[2].text, let message = parts[3].bytes { onMessage(channel, message) }
        case "subscribe", "psubscribe":
            // Not before: a server that takes the connection and refuses the subscription is not to be asked without a pause.
            backoff.reset()
            onSubscribed()
        default: break
        }
    }
}
