public import Errand
import Foundation
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

    /// Says who is told of what.
    ///
    /// - Parameters:
    ///   - webhooks: who is told.
    ///   - queues: of whose events; each must keep a durable stream. The queue of the deliveries itself is not allowed.
    ///   - broker: where the queues are, and the deliveries go.
    /// - Throws: ``WebhookError`` when a webhook can never work, or two have the same name.
    public init(
        _ webhooks: [Webhook],
        of queues: [String],
        broker: any StreamingBroker & PushingBroker
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
    }

    /// Reads the streams and pushes deliveries until the service group shuts down.
    ///
    /// - Throws: `BrokerError` when a queue keeps no events, or the broker does not permit it. What passes by itself is waited for.
    public func run() async throws {
        try await cancelWhenGracefulShutdown {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for queue in queues { group.addTask { try await forward(queue) } }
                try await group.waitForAll()
            }
        }
    }

    /// Lets a worker deliver. Its queues must have ``queue`` among them, which they have when none are named.
    public func registerDeliveries(on worker: Worker, transport: any WebhookTransport = URLSessionTransport()) {
        let sender = WebhookSender(webhooks: webhooks, transport: transport)
        worker.registerJob(
            retryStrategy: RetryDelays(base: .seconds(5), cap: .seconds(21_600)),
            timeout: .seconds(20)
        ) { (delivery: WebhookDelivery, job) in try await sender.deliver(delivery, job.id) }
    }

    // MARK: Forwarding

    private func forward(_ queue: String) async throws {
        let start = try await patiently { try await broker.cursor(of: Self.reader, on: queue) }
        // Where nobody has read yet, what is kept is told, too.
        var events = broker.eventStream(of: queue, after: start ?? .oldest).makeAsyncIterator()
        while let page = try await events.nextPage() {
            let deliveries = try page.flatMap { try self.deliveries(of: $0, in: queue) }
            if !deliveries.isEmpty {
                _ = try await patiently {
                    let receipts = try await broker.push(deliveries, to: Self.queue)
                    // Pushed again with the same ids, what was taken is not taken twice.
                    guard receipts.allSatisfy({ $0.outcome != .unknown }) else {
                        throw BrokerError(.outcomeUnknown, "the answer to the push of deliveries was lost")
                    }
                }
            }
            guard let last = page.last?.cursor else { continue }
            try await patiently { try await broker.keep(last, of: Self.reader, on: queue) }
        }
    }

    private static let reader = "errand.webhooks"

    private func deliveries(of next: StreamedEvent, in queue: String) throws -> [JobEnvelope] {
        switch next {
        case .event(let event):
            return try webhooks.filter { $0.wants(event.event) }.map { try envelope($0, event, queue) }
        case .gap(let gap):
            // Receivers that keep count are told that something is missing.
            let lost = gap.lost.map { "\($0)" } ?? "null"
            let line = Array(#"{"event":"gap","queue":"\#(queue)","lost":\#(lost)}"#.utf8)
            guard let event = JobEvent(line: line) else { return [] }
            let told = KeptEvent(event: event, line: line, cursor: gap.cursor)
            return try webhooks.map { try envelope($0, told, queue, suffix: "_gap") }
        }
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
        ).settled()
    }

    /// Tries again every second while the broker is away.
    private func patiently<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
        while true {
            do { return try await body() } catch let error as BrokerError
                where [.notReachable, .outcomeUnknown, .full].contains(error.code)
            {
                try await Task.sleep(for: .seconds(1))
            }
        }
    }
}
