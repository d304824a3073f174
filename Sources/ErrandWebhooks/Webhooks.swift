public import Errand
import Foundation
public import Logging
public import ServiceLifecycle

/// A service that posts a queue's events to URLs: signed, without gaps, and retried as ordinary jobs.
///
/// It reads the durable streams of queues and pushes one job for each event and webhook. Workers that called
/// ``registerDeliveries(on:transport:)`` deliver them. The service may run in several processes at once and be killed
/// at any time: each event is delivered at least once, and with the same `webhook-id` each time.
///
/// ```swift
/// let webhooks = try Webhooks([billing], of: ["mail"], broker: broker)
/// webhooks.registerDeliveries(on: worker)
/// let group = ServiceGroup(services: [worker, webhooks], gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
///
/// The signature follows the Standard Webhooks specification (standardwebhooks.com), for which there are verifiers in
/// many languages; ``WebhookVerifier`` is one in Swift.
public struct Webhooks: Service {
    /// The queue of the deliveries.
    public static let queue = "errand.webhooks"

    private let webhooks: [Webhook]
    private let queues: [String]
    private let broker: any StreamingBroker & PushingBroker
    private let logger: Logger

    /// Makes a service for webhooks and queues.
    ///
    /// - Parameters:
    ///   - webhooks: The webhooks.
    ///   - queues: The queues whose events are posted; each must keep a durable stream. The queue of the deliveries
    ///     itself is not allowed.
    ///   - broker: The broker that has the queues and stores the deliveries.
    ///   - logger: Receives a warning while the broker is not reachable, and an error for an event that cannot be
    ///     delivered. The default is the task's logger.
    /// - Throws: ``WebhookError`` if a webhook is not valid, two have the same name, or the queue of the deliveries is
    ///   among the queues.
    public init(
        _ webhooks: [Webhook],
        of queues: [String],
        broker: any StreamingBroker & PushingBroker,
        logger: Logger = .current
    ) throws(WebhookError) {
        for webhook in webhooks { try webhook.check() }
        var names: Set<String> = []
        for webhook in webhooks where !names.insert(webhook.name).inserted {
            throw WebhookError("two webhooks are named \"\(webhook.name)\"; give each its own name")
        }
        guard !queues.contains(Self.queue) else {
            throw WebhookError("deliveries have no webhooks themselves: leave \(Self.queue) out")
        }
        self.webhooks = webhooks
        self.queues = queues
        self.broker = broker
        self.logger = logger
    }

    /// Reads the streams and pushes deliveries until the service group shuts down. Without webhooks or queues, it only
    /// waits for the shutdown.
    ///
    /// - Throws: `BrokerError` if a queue keeps no durable stream, or the broker does not permit access. Temporary
    ///   errors are retried.
    public func run() async throws {
        // A service that returns early would end its group.
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
                // Cancellation by the shutdown is not a failure.
                guard Task.isCancelled else { throw error }
            }
        }
    }

    private func endOfService() async throws {
        do { try await gracefulShutdown() } catch is CancellationError {}
    }

    /// Registers the deliveries with a worker. Its queues must include ``queue``; a worker without configured queues
    /// serves it.
    public func registerDeliveries(on worker: Worker, transport: any WebhookTransport = HTTPWebhookTransport()) {
        let sender = WebhookSender(webhooks: webhooks, transport: transport)
        worker.registerJob(
            retryStrategy: RetryDelays(base: .seconds(5), longest: .seconds(21_600), jitter: 1),
            timeout: .seconds(20)
        ) { (delivery: WebhookDelivery, job) in try await sender.deliver(delivery, job.id) }
    }

    // MARK: Forwarding

    /// Each webhook has its own cursor for each queue. So a new webhook starts with the oldest kept event, and none
    /// misses what another has read.
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
            // A repeated push has the same ids, so accepted deliveries are not pushed twice.
            guard receipts.allSatisfy({ $0.outcome != .unknown }) else {
                throw BrokerError(.outcomeUnknown, "the reply to the push of deliveries was lost")
            }
        }
    }

    private func delivery(of next: StreamedEvent, in queue: String, to webhook: Webhook) -> JobEnvelope? {
        do {
            switch next {
            case .event(let event): return webhook.wants(event.event) ? try envelope(webhook, event, queue) : nil
            case .gap(let gap): return try envelope(webhook, gapEvent(gap, queue), queue, suffix: "_gap")
            }
        } catch {
            // Errand's own events are never too large, so another program has written into the stream.
            logger.error(
                "event not delivered",
                metadata: ["webhook": "\(webhook.name)", "job.queue": "\(queue)", "error": "\(error)"]
            )
            return nil
        }
    }

    /// Makes an event for a gap, so that receivers learn that events are missing.
    private func gapEvent(_ gap: EventGap, _ queue: String) -> KeptEvent {
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

    /// Repeats a call every second while the broker is not reachable or full, or the reply was lost.
    private func patiently<Answer>(_ what: String, _ body: () async throws -> Answer) async throws -> Answer {
        while true {
            do { return try await body() } catch let error as BrokerError
                where [.notReachable, .outcomeUnknown, .full].contains(error.code)
            {
                logger.warning("\(what) is retried", metadata: ["error": "\(error)"])
                try await Task.sleep(for: .seconds(1))
            }
        }
    }
}
