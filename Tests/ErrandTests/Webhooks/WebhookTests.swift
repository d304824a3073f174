import Errand
import ErrandWebhooks
import Foundation
import Logging
import Synchronization
import TestSupport
import Testing

/// Events posted to a real web server.
@Suite struct WebhookTests {
    private let broker = MemoryBroker()
    private let secret: WebhookSecret

    init() throws { secret = try WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw") }

    private func webhook(
        _ server: WebServer,
        _ name: String = "billing",
        events: Set<JobEvent.Kind> = [.finished, .dead]
    ) throws -> Webhook {
        let url = try #require(URL(string: server.url + "/hooks"))
        return Webhook(name, url: url, secrets: [secret], events: events, retries: 3, timeout: .seconds(60))
    }

    private func finishedDeliveries() async throws -> Int {
        try await broker.status(of: Webhooks.queue).queue.totals["finished"]
    }

    /// Runs a worker with webhooks while the body runs.
    private func running(_ webhooks: [Webhook], _ body: (Producer) async throws -> Void) async throws {
        try await broker.createQueue("mail")
        try await broker.configure("mail", QueueSettings(keptEvents: 1000))
        let hooks = try Webhooks(webhooks, of: ["mail"], broker: broker)
        let worker = Worker(
            broker: broker,
            configuration: WorkerConfiguration(queues: [.init("mail"), .init(Webhooks.queue)]),
            operations: [
                RegisteredOperation("send") { job in
                    if job.arguments == ["fails": true] { throw JobFailure("no such address", isFinal: true) }
                }
            ],
            logger: Logger(label: "webhooks")
        )
        hooks.registerDeliveries(on: worker)
        let tasks = [Task { try await worker.run() }, Task { try await hooks.run() }]
        try await body(Producer(broker: broker))
        for task in tasks { task.cancel() }
        try await tasks[0].value
        await #expect(throws: Never.self) { try await tasks[1].value }
    }

    @Test func `the wanted events are posted and signed`() async throws {
        let server = try WebServer { _ in WebServer.answer(204) }
        try await running([try webhook(server)]) { producer in
            try await producer.push(OperationDescription("send", queue: "mail", id: "good"))
            try await producer.push(OperationDescription("send", arguments: ["fails": true], queue: "mail", id: "bad"))
            try await eventually("both came: \(server.requests)") { server.requests.count == 2 }
        }
        let verifier = WebhookVerifier([secret])
        for request in server.requests {
            #expect(request.line == "POST /hooks HTTP/1.1")
            let body = Data(request.body)
            try verifier.verify(
                body,
                id: request.headers["webhook-id"],
                timestamp: request.headers["webhook-timestamp"],
                signature: request.headers["webhook-signature"]
            )
            let event = try JSONDecoder().decode(Posted.self, from: body)
            #expect(["job.finished good", "job.dead bad"].contains("\(event.type) \(event.data.id ?? "")"))
            #expect(event.data.queue == "mail")
        }
        #expect(Set(server.requests.map { $0.headers["webhook-id"] }).count == 2)
    }

    @Test func `the end of a workflow is posted`() async throws {
        let server = try WebServer { _ in WebServer.answer(204) }
        try await running([try webhook(server, events: [.workflowFinished])]) { producer in
            let flow = try Workflow("greetings", queue: "mail") { flow in
                let first = flow.add(try OperationDescription("send", queue: "mail"))
                flow.add(try OperationDescription("send", queue: "mail"), after: [first])
            }
            let receipt = try await producer.push(flow)
            try await eventually("it came: \(server.requests)") { server.requests.count == 1 }
            let event = try JSONDecoder().decode(Posted.self, from: Data(try #require(server.requests.first).body))
            #expect(event.type == "workflow.finished" && event.data.id == receipt.workflow)
        }
    }

    @Test func `a failed delivery is retried under the same id`() async throws {
        let server = try WebServer { [attempts = Counter()] _ in
            attempts.next() < 2 ? WebServer.answer(503, ["Retry-After": "1"]) : WebServer.answer(200)
        }
        try await running([try webhook(server)]) { producer in
            try await producer.push(OperationDescription("send", queue: "mail"))
            try await eventually("it came a third time") { server.requests.count == 3 }
        }
        #expect(Set(server.requests.map { $0.headers["webhook-id"] }).count == 1)
        #expect(try await broker.status(of: Webhooks.queue).queue.totals["failed"] == 2)
    }

    @Test func `each webhook gets its own events, and one that is gone does not affect others`() async throws {
        let first = try WebServer { _ in WebServer.answer(410) }
        let second = try WebServer { _ in WebServer.answer(200) }
        let hooks = [try webhook(first, "first"), try webhook(second, "second", events: [])]
        try await running(hooks) { producer in
            try await producer.push(OperationDescription("send", queue: "mail"))
            try await eventually("both were asked") { first.requests.count == 1 && second.requests.count == 1 }
            try await eventually("both have ended") {
                let totals = try await broker.status(of: Webhooks.queue).queue.totals
                return totals["finished"] == 1 && totals["cancelled"] == 1
            }
        }
    }

    @Test func `a restart delivers what was missed, and nothing twice`() async throws {
        let server = try WebServer { _ in WebServer.answer(200) }
        let hook = try webhook(server)
        try await running([hook]) { producer in
            try await producer.push(OperationDescription("send", queue: "mail"))
            try await eventually("it came, and its delivery has ended") { try await finishedDeliveries() == 1 }
            try await eventually("the cursor is kept") {
                try await broker.cursor(of: "errand.webhooks.billing", on: "mail") != nil
            }
        }
        // No worker forwards events while this job ends.
        let worker = Worker(
            broker: broker,
            configuration: WorkerConfiguration(queues: [.init("mail")]),
            operations: [RegisteredOperation("send") { _ in }],
            logger: Logger(label: "webhooks")
        )
        let alone = Task { try await worker.run() }
        let producer = Producer(broker: broker)
        let receipt = try await producer.push(OperationDescription("send", queue: "mail"))
        _ = try await producer.ending(of: receipt, within: .seconds(120))
        alone.cancel()
        try await alone.value
        try await running([hook]) { _ in
            try await eventually("the second came, and its delivery has ended") { try await finishedDeliveries() == 2 }
        }
        // From the beginning again, as after a crash before the cursor was kept: the ids already exist.
        try await broker.keep(.oldest, of: "errand.webhooks.billing", on: "mail")
        try await running([hook]) { _ in
            try await eventually("all was read") {
                try await broker.cursor(of: "errand.webhooks.billing", on: "mail") != EventCursor.oldest
            }
        }
        #expect(server.requests.count == 2)
    }

    @Test func `a later webhook gets the kept events, and one that a worker does not have is retried`()
        async throws
    {
        let first = try WebServer { _ in WebServer.answer(200) }
        try await running([try webhook(first)]) { producer in
            try await producer.push(OperationDescription("send", queue: "mail"))
            try await eventually("it came, and its delivery has ended") { try await finishedDeliveries() == 1 }
        }
        // A delivery for a webhook that this worker does not have.
        let delivery: JSONText = ["webhook": "unknown", "type": "job.finished", "timestamp": "x", "event": "{}"]
        let foreign = try OperationDescription(
            "errand.webhook",
            arguments: delivery,
            queue: Webhooks.queue,
            id: "foreign"
        )
        try await Producer(broker: broker).push(foreign)
        let second = try WebServer { _ in WebServer.answer(200) }
        try await running([try webhook(first), try webhook(second, "late")]) { _ in
            try await eventually("the later webhook got it") { second.requests.count == 1 }
            try await eventually("the foreign one is not lost") {
                try await broker.inspect(["foreign"], on: Webhooks.queue).first??.state == .retrying
            }
        }
        #expect(first.requests.count == 1)
    }

    @Test func `a gap is delivered`() async throws {
        let server = try WebServer { _ in WebServer.answer(200) }
        try await broker.keep(EventCursor(epoch: 1, number: 5), of: "errand.webhooks.billing", on: "mail")
        try await running([try webhook(server)]) { producer in
            try await producer.push(OperationDescription("send", queue: "mail"))
            try await eventually("the gap and the event came") { server.requests.count == 2 }
        }
        #expect(server.requests.contains { String(decoding: $0.body, as: UTF8.self).contains(#""type":"job.gap""#) })
    }

    @Test(arguments: [[], ["mail"]]) func `with nothing to forward it waits for the end`(
        _ queues: [String]
    ) async throws {
        let hooks = try Webhooks([], of: queues, broker: broker)
        let (ends, ended) = AsyncStream.makeStream(of: String.self)
        let running = Task {
            try await hooks.run()
            ended.yield("hooks")
        }
        // Its immediate actions are over by then.
        Task {
            try await Task.sleep(for: .milliseconds(300))
            ended.yield("time")
        }
        var first = ends.makeAsyncIterator()
        #expect(await first.next() == "time", "it ended, and its group would have with it")
        running.cancel()
        try await running.value
    }

    @Test func `an impossible configuration is rejected`() throws {
        let url = try #require(URL(string: "https://example.org/"))
        let file = try #require(URL(string: "file:///etc/passwd"))
        func attempt(_ hooks: [Webhook], _ queues: [String] = ["mail"]) throws {
            _ = try Webhooks(hooks, of: queues, broker: broker)
        }
        let good = Webhook("a", url: url, secrets: [secret])
        try attempt([good])
        #expect(throws: WebhookError.self) { try attempt([good, good]) }
        #expect(throws: WebhookError.self) { try attempt([good], [Webhooks.queue]) }
        #expect(throws: WebhookError.self) { try attempt([Webhook("a b", url: url, secrets: [secret])]) }
        #expect(throws: WebhookError.self) { try attempt([Webhook("a", url: file, secrets: [secret])]) }
        #expect(throws: WebhookError.self) { try attempt([Webhook("a", url: url, secrets: [])]) }
        let endless = Webhook("a", url: url, secrets: [secret], timeout: .seconds(-7))
        #expect(throws: WebhookError.self) { try attempt([endless]) }
        for text in ["", "whsec_", "whsec_short", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_*"] {
            #expect(throws: WebhookError.self) { try WebhookSecret(text) }
        }
        #expect("\(secret)" == "whsec_…")
    }
}

/// The signatures, checked against the example of the Standard Webhooks specification.
@Suite struct WebhookSignatureTests {
    private let id = "msg_p5jXN8AQM9LWM0D4loKWxJek"
    private let time = "1614265330"
    private let body = Data(#"{"test": 2432232314}"#.utf8)
    private let signature = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

    private func verifier(at seconds: Double = 1_614_265_330, _ more: [WebhookSecret] = []) throws -> WebhookVerifier {
        let secret = try WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        return WebhookVerifier(more + [secret]) { Date(timeIntervalSince1970: seconds) }
    }

    @Test func `the specification's example is verified`() throws {
        try verifier().verify(body, id: id, timestamp: time, signature: signature)
        let other = WebhookSecret.generate()
        try verifier([other.secret]).verify(body, id: id, timestamp: time, signature: "v1,AAAA v2,x \(signature)")
        _ = try WebhookSecret(other.text)
    }

    @Test func `anything else is not`() throws {
        let good = try verifier()
        #expect(throws: WebhookError.self) {
            try good.verify(Data("{}".utf8), id: id, timestamp: time, signature: signature)
        }
        #expect(throws: WebhookError.self) {
            try good.verify(body, id: "msg_other", timestamp: time, signature: signature)
        }
        #expect(throws: WebhookError.self) {
            try good.verify(body, id: id, timestamp: "1614265331", signature: signature)
        }
        #expect(throws: WebhookError.self) { try good.verify(body, id: id, timestamp: "soon", signature: signature) }
        #expect(throws: WebhookError.self) { try good.verify(body, id: id, timestamp: nil, signature: signature) }
        for text in ["", "v1,", "g0hM9SsE", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ2OE="] {
            #expect(throws: WebhookError.self) { try good.verify(body, id: id, timestamp: time, signature: text) }
        }
        let late = try verifier(at: 1_614_265_330 + 301)
        #expect(throws: WebhookError.self) { try late.verify(body, id: id, timestamp: time, signature: signature) }
        let only = WebhookVerifier([WebhookSecret.generate().secret]) { Date(timeIntervalSince1970: 1_614_265_330) }
        #expect(throws: WebhookError.self) { try only.verify(body, id: id, timestamp: time, signature: signature) }
    }
}

private struct Posted: Decodable {
    let type: String
    let data: JobEvent
}

private final class Counter: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock {
            $0 += 1
            return $0 - 1
        }
    }
}
