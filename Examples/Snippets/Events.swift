import Configuration
import Errand
import ErrandRedis
import ErrandWebhooks
import Foundation
import Logging
import ServiceLifecycle
import UnixSignals

/// Where a reader keeps what it made of events.
protocol EventLedger {
    func cursor() throws -> EventCursor?
    func add(_ event: JobEvent, upTo cursor: EventCursor) throws
    func noteGap(of count: Int?, upTo cursor: EventCursor) throws
}

func followingEvents(_ broker: any Broker, _ ledger: any EventLedger) async throws {
    try await broker.createQueue("mail")
    try await broker.configure("mail", QueueSettings(keptEvents: 100_000))

    for try await next in broker.eventStream(of: "mail", after: try ledger.cursor() ?? .oldest) {
        switch next {
        case .event(let kept): try ledger.add(kept.event, upTo: kept.cursor)
        case .gap(let gap): try ledger.noteGap(of: gap.lost, upTo: gap.cursor)
        }
    }
}

func tellingOthers(
    _ address: URL,
    _ secret: String,
    _ broker: any Broker,
    _ worker: Worker,
    _ logger: Logger
) async throws {
    let billing = Webhook(
        "billing",
        url: address,
        secrets: [try WebhookSecret(secret)],
        events: [.finished, .dead]
    )
    let webhooks = try Webhooks([billing], of: ["mail"], broker: broker)
    webhooks.registerDeliveries(on: worker)
    let group = ServiceGroup(services: [worker, webhooks], gracefulShutdownSignals: [.sigterm], logger: logger)
    try await group.run()
}

func receiving(_ body: Data, _ headers: [String: String], _ secret: String) throws {
    let verifier = WebhookVerifier([try WebhookSecret(secret)])
    try verifier.verify(
        body,
        id: headers["webhook-id"],
        timestamp: headers["webhook-timestamp"],
        signature: headers["webhook-signature"]
    )
}

struct IndexArticle: JobParameters {
    static let jobName = "article.index"
    static let jobDefaults = JobDefaults(uniqueness: .drop(by: "id").untilStarted)

    let id: Int
}

struct ReindexArticle: JobParameters {
    static let jobName = "article.reindex"
    static let jobDefaults = JobDefaults(uniqueness: .debounce(.seconds(5), atMost: .seconds(60)).by("id"))

    let id: Int
}

struct SendInvoice: JobParameters {
    static let jobName = "invoice.send"
    static let jobDefaults = JobDefaults(queue: "invoices", group: .field("tenant"))

    let tenant: String
    let number: Int
}

func limitTenants(_ broker: some ConsoleBroker) async throws {
    try await broker.setFlow("mail", matching: "tenant-*", FlowRule(atOnce: 4, rate: .perSecond(100, burst: 20)))
    try await broker.setFlow("mail", matching: "tenant-7", FlowRule(atOnce: 20, weight: 3))
}

func comeBackLater() throws {
    throw JobFailure("the API asks for a pause", retryAfter: .seconds(30), scope: .group)
}

struct SendCode: JobParameters {
    static let jobName = "code.send"
    static let jobDefaults = JobDefaults(queue: "codes", expiresIn: .seconds(600))

    let phone: String
}

struct SyncAccount: JobParameters {
    static let jobName = "account.sync"
    static let jobDefaults = JobDefaults(uniqueness: .throttle(per: .seconds(60)))

    let account: Int
}

func configuring() throws {
    let config = ConfigReader(provider: EnvironmentVariablesProvider()).scoped(to: "errand")
    let broker = try RedisBroker(config: config)
    let worker = Worker(broker: broker, configuration: try WorkerConfiguration(config: config))
    withExtendedLifetime(worker) {}
}
