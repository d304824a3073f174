import Errand
import ErrandCatalogue
import ErrandConformance
import ErrandDashboard
import ErrandTesting
import ErrandText
import ErrandWebhooks
import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import Testing
import UnixSignals

/// The examples in the documentation of events, middleware, tests, webhooks, the catalogue and the dashboard.
private enum Middleware {
    struct Tenants: JobMiddleware {
        func handleJob(
            _ job: JobContext,
            next: (JobContext) async throws -> HandlerOutcome
        ) async throws -> HandlerOutcome {
            try await Tenant.$current.withValue(job.meta["tenant"]) { try await next(job) }
        }
    }
}

private func tracing(_ broker: any Broker, _ logger: Logger) -> (Producer, Worker) {
    let producer = Producer(broker: broker, middleware: [TracingMiddleware()])
    let worker = Worker(broker: broker, middleware: [TracingMiddleware()], logger: logger)
    return (producer, worker)
}

private func following(
    _ broker: any Broker,
    _ load: () async throws -> EventCursor,
    _ record: (JobEvent) async throws -> Void,
    _ report: (String) -> Void,
    _ save: (EventCursor) async throws -> Void
) async throws {
    for try await next in broker.eventStream(of: "mail", after: try await load()) {
        switch next {
        case .event(let kept): try await record(kept.event)
        case .gap(let gap): report("\(gap.lost.map(String.init) ?? "some") events were missed")
        }
        try await save(next.cursor)
    }
}

private func listening(_ broker: any Broker, _ alert: (JobEvent) -> Void) async throws {
    for try await event in broker.events(queue: "mail") where event.kind == .dead { alert(event) }
}

private func slowRuns(_ broker: any Broker) async throws -> Double? {
    let now = try await broker.now(on: "mail")
    let lastHour = try await broker.statistics(of: "mail", .minutes, from: now - 3_600_000, to: now, withRuns: true)
    return lastHour.byOperation["sendEmail"]?.running.percentile(0.95)
}

@Suite private struct TestBrokerExample {
    @Test func `a new user is welcomed`() async throws {
        let broker = TestBroker()
        try await broker.running(makeWorker(broker)) {
            try await signUp("ada@example.org", producer: broker.producer())
            try await broker.assertEnqueued(SendEmail.self) { $0.to == "ada@example.org" }

            let run = try await broker.performNext()
            #expect(run?.state == .finished)
        }
    }
}

@Suite(.disabled("each broker's own tests run the cases")) private struct ConformanceExample {
    private let broker = MemoryBroker()

    @Test(arguments: ConformanceCase.allCases)
    func conforms(_ conformanceCase: ConformanceCase) async throws {
        try await conformanceCase.run(on: broker)
    }
}

private func webhook(_ address: URL) throws -> Webhook {
    let billing = Webhook(
        "billing",
        url: address,
        secrets: [try WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")],
        events: [.finished, .dead]
    )
    return billing
}

private func verifying(_ body: Data, _ headers: [String: String], _ environment: [String: String]) throws {
    let verifier = WebhookVerifier([try WebhookSecret(environment["HOOK_SECRET"] ?? "")])
    try verifier.verify(
        body,
        id: headers["webhook-id"],
        timestamp: headers["webhook-timestamp"],
        signature: headers["webhook-signature"]
    )
}

private func telling(_ billing: Webhook, _ broker: any Broker, _ worker: Worker, _ logger: Logger) async throws {
    let webhooks = try Webhooks([billing], of: ["mail"], broker: broker)
    webhooks.registerDeliveries(on: worker)
    let group = ServiceGroup(services: [worker, webhooks], gracefulShutdownSignals: [.sigterm], logger: logger)
    try await group.run()
}

private func durations() throws -> (Duration, String) {
    let wait = try DurationText.parse("90s")  // 90 seconds
    let text = DurationText.format(.seconds(7_200))  // "2h"
    return (wait, text)
}

private func children() async -> ChildResult {
    let result = await ChildProcesses.shared.run(ChildCommand(["sha256sum", "--", "a.jpg"]))
    return result
}

private struct Session {
    struct User {
        let name: String
        let isOperator: Bool
    }
    let user: User?
}

private struct UserContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    var user: Session.User?

    init(source: ApplicationRequestContextSource) { coreContext = .init(source: source) }
}

private func dashboard(_ broker: any Broker, _ router: Router<UserContext>) {
    ErrandDashboard(broker: broker).addRoutes(to: router, at: "/errand") { _, context in
        guard let user = context.user else { return .none }
        return user.isOperator ? .acting(as: user.name) : .reading(as: user.name)
    }
}

private func dashboards(_ broker: any Broker, _ router: Router<BasicRequestContext>) {
    @Sendable func session(of request: Request) async -> Session? { nil }
    ErrandDashboard(broker: broker).addRoutes(to: router, at: "/errand")

    ErrandDashboard(broker: broker) { request in
        guard let user = await session(of: request)?.user else { return .none }
        return user.isOperator ? .acting(as: user.name) : .reading(as: user.name)
    }
    .addRoutes(to: router, at: "/errand")
}
