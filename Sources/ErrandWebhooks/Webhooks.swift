public import Errand
import Foundation
public import Logging
public import ServiceLifecycle

/// Tells web addresses of a queue's events: signed, none left out, tried again as ordinary jobs.
///
/// It reads the durable streams of queues and pushes a job for each event and webhook; workers that have
/// ``registerDeliveries(on:transport:)`` deliver them. It may run in several processes at once, and be killed at any time: each event is
/// delivered at least once, and under the same `webhook-id` whenever it is delivered again.
///
/// ```swift
/// let webhooks = try Webhooks([billing], of: ["mail"], broker: broker)
/// webhooks.registerDeliveries(on: worker)
/// let group = ServiceGroup(services: [worker, webhooks], gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
///
/// The signature is that of the Standard Webhooks specification (standardwebhooks.com), for which there are verifiers in many
/// languages; ``WebhookVerifier`` is one in Swift.
public struct Webhooks: Service {
    /// The queue of the deliveries.
    public static let queue = "errand.webhooks"

    private let webhooks: [Webhook]
    private let queues: [String]
    private let broker: any StreamingBroker & PushingBroker
    private let logger: Logger

    /// Says who is told of what.
    ///
    /// - Parameters:
    ///   - webhooks: who is told.
    ///   - queues: of whose events; each must keep a durable stream. The queue of the deliveries itself is not allowed.
    ///   - broker: where the queues are, and the deliveries go.
    ///   - logger: gets a warning when the broker is away, and an error for an event that cannot be delivered; the task's unless said.
    /// - Throws: ``WebhookError`` when a webhook can never work, or two have the same name.
    public init(
        _ webhooks: [Webhook],
        of queues: [String],
        broker: any StreamingBroker & PushingBroker,
        logger: Logger = .current
    ) throws(WebhookError) {
        for webhook in webhooks { try webhook.check() }
        guard Set(webhooks.map(\.name)).count == webhooks.count else {
            throw WebhookError("two webhooks have the same name")
        }
        guard !queues.contains(Self.queue) else {
            throw WebhookError("deliveries tell of no events themselves: leave \(Self.queue) out")
        }
        self.webhooks = webhooks
        self.queues = queues
        self.broker = broker
        self.logger = logger
    }

    /// Reads the streams and pushes deliveries until the service group shuts down. Where there are no webhooks, or no queues, it only waits for
    /// that.
    ///
    /// - Throws: `BrokerError` when a queue keeps no events, or the broker does not permit it. What passes by itself is waited for.
    public func run() async throws {
        // A service that ends takes its group with it.
        guard !webhooks.isEmpty, !queues.isEmpty else { return try await endOfService() }
        try await cancelWhenGracefulShutdown {
            do {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for webhook in webhooks {
                        for queue in queues { group.addTask { try await forward(queue, to: webhook) } }
                    }
                    try await group.waitForAll()
                }
            } catch {
                // Told to end while it waited for the broker: that is no failure.
                guard Task.isCancelled else { throw error }
            }
        }
    }

    private func endOfService() async throws {
        do { try await gracefulShutdown() } catch is CancellationError {}
    }

    /// Lets a worker deliver. Its queues must have ``queue`` among them, which they have when none are named.
    public func registerDeliveries(on worker: Worker, transport: any WebhookTransport = HTTPWebhookTransport()) {
        let sender = WebhookSender(webhooks: webhooks, transport: transport)
        worker.registerJob(
            retryStrategy: RetryDelays(base: .seconds(5), cap: .seconds(21_600), jitter: 1),
            timeout: .seconds(20)
        ) { (delivery: WebhookDelivery, job) in try await sender.deliver(delivery, job.id) }
    }

    // MARK: Forwarding

    /// One webhook has one cursor a queue, so a new one begins with what is kept, and none misses what another has read.
    private func forward(_ queue: String, to webhook: Webhook) async throws {
        let reader = "errand.webhooks.\(webhook.name)"
        let start = try await patiently("reading a cursor") { try await broker.cursor(of: reader, on: queue) }
        var events = broker.eventStream(of: queue, after: start ?? .oldest).makeAsyncIterator()
        while let page = try await events.nextPage() {
            let deliveries = page.compactMap { delivery(of: $0, in: queue, to: webhook) }
            for first in stride(from: 0, to: deliveries.count, by: Self.portion) {
                try await push(Array(deliveries[first..<min(first + Self.portion, deliveries.count)]))
            }
            guard let last = page.last?.cursor else { continue }
            try await patiently("keeping a cursor") { try await broker.keep(last, of: reader, on: queue) }
        }
    }

    private static let portion = 100

    private func push(_ deliveries: [JobEnvelope]) async throws {
        try await patiently("pushing deliveries") {
            let receipts = try await broker.push(deliveries, to: Self.queue)
            // Pushed again with the same ids, what was taken is not taken twice.
            guard receipts.allSatisfy({ $0.outcome != .unknown }) else {
                throw BrokerError(.outcomeUnknown, "the answer to the push of deliveries was lost")
            }
        }
    }

    private func delivery(of next: StreamedEvent, in queue: String, to webhook: Webhook) -> JobEnvelope? {
        do {
            switch next {
            case .event(let event): return webhook.wants(event.event) ? try envelope(webhook, event, queue) : nil
            case .gap(let gap): return try envelope(webhook, told(gap, queue), queue, suffix: "_gap")
            }
        } catch {
            // Nothing of ours is that large: somebody else has written into the stream.
            logger.error("event not delivered", metadata: ["job.queue": "\(queue)", "error": "\(error)"])
            return nil
        }
    }

    /// Receivers that keep count are told that something is missing.
    private func told(_ gap: EventGap, _ queue: String) -> KeptEvent {
        let lost = gap.lost.map { "\($0)" } ?? "null"
        let now = Int64(Date().timeIntervalSince1970 * 1000)
        let line = Array(#"{"event":"gap","queue":"\#(queue)","lost":\#(lost),"at_ms":\#(now)}"#.utf8)
        return KeptEvent(
            event: JobEvent(event: "gap", queue: queue, atMilliseconds: now),
            line: line,
            cursor: gap.cursor
        )
    }

    private func envelope(
        _ webhook: Webhook,
        _ event: KeptEvent,
        _ queue: String,
        suffix: String = ""
    ) throws -> JobEnvelope {
        try OperationDescription(
            WebhookDelivery.jobName,
            encoding: WebhookDelivery(webhook, event),
            queue: Self.queue,
            timeout: webhook.timeout + .seconds(5),
            retries: webhook.retries,
            id: WebhookDelivery.id(webhook, queue, event.cursor) + suffix
        ).makeEnvelope()
    }

    /// Tries again every second while the broker is away, or full.
    private func patiently<Answer>(_ what: String, _ body: () async throws -> Answer) async throws -> Answer {
        while true {
            do { return try await body() } catch let error as BrokerError
                where [.notReachable, .outcomeUnknown, .full].contains(error.code)
            {
                logger.warning("\(what) is tried again", metadata: ["error": "\(error)"])
                try await Task.sleep(for: .seconds(1))
            }
        }
    }
}
