import Errand
import ErrandTesting
import Logging
import Testing

func signUp(_ address: String, producer: Producer) async throws {
    try await producer.push(SendEmail(to: address, template: "welcome"))
}

func makeWorker(_ broker: any WorkingBroker, schedules: [Schedule] = []) -> Worker {
    let worker = Worker(broker: broker, schedules: schedules, logger: Logger(label: "tests"))
    worker.registerJob(parameters: SendEmail.self) { email, _ in
        if email.to == "nobody" { throw JobFailure("no such address", retryAfter: .seconds(60)) }
    }
    return worker
}

@Suite struct SignUpTests {
    @Test func `a new user is welcomed`() async throws {
        let broker = TestBroker()
        try await broker.running(makeWorker(broker)) {
            try await signUp("ada@example.org", producer: broker.producer())
            try await broker.assertEnqueued(SendEmail.self) { $0.to == "ada@example.org" }
            #expect(try await broker.performNext()?.state == .finished)
        }
    }

    @Test func `a letter that cannot be delivered is tried again a minute later`() async throws {
        let broker = TestBroker()
        try await broker.running(makeWorker(broker)) {
            let first = try await broker.perform(SendEmail(to: "nobody", template: "welcome"))
            #expect(first?.state == .retrying)
            #expect(try await broker.performNext() == nil)
            try await broker.advance(by: .seconds(60))
            #expect(try await broker.performNext()?.error == "no such address")
        }
    }

    @Test func `the letters of the day are sent at eight`() async throws {
        let broker = TestBroker()
        let schedule = try Schedule("letters", .daily(hour: 8), pushing: SendEmail(to: "all", template: "daily"))
        let worker = makeWorker(broker, schedules: [schedule])
        try await broker.running(worker) {
            try await broker.advance(by: .seconds(86_400))
            try await broker.assertEnqueued(SendEmail.self) { $0.template == "daily" }
            #expect(try await broker.performNext()?.state == .finished)
        }
    }

    @Test func `a killed worker loses nothing`() async throws {
        let broker = TestBroker()
        try await broker.running(makeWorker(broker)) {
            try await signUp("ada@example.org", producer: broker.producer())
            broker.inject(.workerDiesAfterClaim)
            #expect(try await broker.performNext() == nil)
            try await broker.advance(by: .seconds(120))
            #expect(try await broker.performNext()?.state == .finished)
        }
    }
}
