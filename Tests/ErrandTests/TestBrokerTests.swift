import Errand
import ErrandTesting
import Logging
import Synchronization
import Testing

/// The test kit, used like in a user's tests.
@Suite(.timeLimit(.minutes(6))) struct TestBrokerTests {
    private struct Welcome: JobParameters {
        static let jobName = "welcome"
        static let jobDefaults = JobDefaults(queue: "mail", retries: 2)
        let to: String
    }

    private struct Digest: JobParameters {
        static let jobName = "digest"
        let of: [String]
    }

    private let broker = TestBroker()
    private let sent = Sent()

    private final class Sent: Sendable {
        private let list = Mutex<[String]>([])
        var all: [String] { list.withLock { $0 } }
        func add(_ line: String) { list.withLock { $0.append(line) } }
    }

    private func worker() -> Worker {
        let worker = Worker(broker: broker, logger: Logger(label: "test"))
        let (sent, producer) = (sent, broker.producer())
        worker.registerJob(parameters: Welcome.self) { welcome, context in
            if welcome.to == "nobody" { throw JobFailure("no such address", retryAfter: .seconds(60)) }
            sent.add("\(welcome.to) \(context.attempt)")
            try await producer.push(Digest(of: [welcome.to]), options: PushOptions(uniqueness: .drop))
        }
        worker.registerJob(parameters: Digest.self) { digest, _ in sent.add("digest \(digest.of)") }
        return worker
    }

    @Test func `jobs are asserted before they run, and run one by one`() async throws {
        let producer = broker.producer()
        try await broker.running(worker()) {
            try await producer.push(contentsOf: ["ada", "grace"].map(Welcome.init))
            try await broker.assertEnqueued(Welcome.self, count: 2, in: "mail")
            try await broker.assertEnqueued(Welcome.self) { $0.to == "ada" }
            try await broker.refuteEnqueued(Digest.self)
            #expect(sent.all == [], "nothing runs by itself")

            #expect(try await broker.performNext()?.state == .finished)
            #expect(sent.all == ["ada 1"])
            try await broker.assertEnqueued(Digest.self, count: 1)
            try await broker.drain()
            #expect(Set(sent.all) == ["ada 1", "grace 1", #"digest ["ada"]"#, #"digest ["grace"]"#])
            #expect(try await broker.performNext() == nil)
        }
    }

    @Test func `a failed assertion lists the existing jobs`() async throws {
        try await broker.producer().push(Welcome(to: "ada"))
        let line = #line + 2
        try await withKnownIssue {
            try await broker.assertEnqueued(Welcome.self) { $0.to == "grace" }
        } matching: { issue in
            let text = issue.error.map { "\($0)" } ?? ""
            return text.contains("but 0 fit") && text.contains("ada") && issue.sourceLocation?.line == line
        }
        await withKnownIssue { try await broker.refuteEnqueued(Welcome.self) }
        await withKnownIssue { try await broker.assertEnqueued(Welcome.self, in: "other") }
        // Without Swift Testing it is thrown, with the caller's position.
        let error = await Task.detached {
            await #expect(throws: EnqueueAssertionError.self) { try await broker.refuteEnqueued(Welcome.self) }
        }.value
        #expect(
            error?.description.hasPrefix("ErrandTests/TestBrokerTests.swift:\(line + 9): ") == true,
            "\(error as Any)"
        )
        await #expect(throws: NoWorker.self) { try await broker.performNext() }
    }

    @Test func `retries and delayed jobs run when the clock has moved`() async throws {
        try await broker.running(worker()) {
            let first = try await broker.perform(Welcome(to: "nobody"))
            #expect(first?.state == .retrying)
            #expect(first?.error == "no such address")
            #expect(try await broker.performNext() == nil)
            try await broker.advance(by: .seconds(59))
            #expect(try await broker.performNext() == nil)
            try await broker.advance(by: .seconds(1))
            #expect(try await broker.performNext()?.state == .retrying)
            try await broker.advance(by: .seconds(60))
            #expect(try await broker.performNext()?.state == .dead)

            try await broker.producer().push(Welcome(to: "ada"), options: PushOptions(delay: .seconds(3 * 86_400)))
            try await broker.drain()
            #expect(sent.all == [])
            try await broker.advance(by: .seconds(3 * 86_400))
            try await broker.drain()
            #expect(sent.all == ["ada 1", #"digest ["ada"]"#])
        }
    }

    @Test func `a schedule ticks when the clock has moved`() async throws {
        let schedule = try Schedule(
            "hourly",
            .every(.seconds(3600)),
            pushing: OperationDescription("digest", arguments: ["of": []])
        )
        try await broker.put(schedule)
        try await broker.running(worker()) {
            try await broker.drain()
            #expect(sent.all == [])
            try await broker.advance(by: .seconds(3600))
            try await broker.drain()
            #expect(sent.all == ["digest []"])
        }
    }

    @Test func `a job whose worker died runs on another one when the lease is over`() async throws {
        try await broker.running(worker()) {
            let receipt = try await broker.producer().push(Welcome(to: "ada"))
            broker.inject(.workerDiesAfterClaim)
            #expect(try await broker.performNext() == nil)
            #expect(sent.all == [])
            #expect(try await broker.inspect([receipt.id], on: "mail").first??.state == .running)
            try await broker.advance(by: .seconds(120))
            #expect(try await broker.performNext()?.state == .finished)
            #expect(sent.all == ["ada 1"])
            #expect(try await broker.status(of: "mail").queue.totals["recovered"] == 1)
        }
    }

    @Test func `a lost reply causes no second job and no second run`() async throws {
        let producer = broker.producer()
        broker.inject(.pushAnswerLost)
        broker.inject(.pushFails(BrokerError(.full, "no room")))
        await #expect(throws: BrokerError(.full, "no room")) { try await producer.push(Welcome(to: "ada")) }
        let lost = try await producer.push(Welcome(to: "ada"))
        #expect(lost.outcome == .unknown)
        #expect(try await producer.push(Welcome(to: "ada"), options: PushOptions(id: lost.id)).outcome == .exists)
        try await broker.running(worker()) {
            broker.inject(.reportAnswerLost)
            try await broker.drain()
            #expect(sent.all == ["ada 1", #"digest ["ada"]"#])
            #expect(try await broker.status(of: "mail").queue.totals["finished"] == 1)
            #expect(try await broker.audit("mail", repair: false) == [])
        }
    }
}
