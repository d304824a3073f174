import Errand
import ErrandTesting
import Logging
import Testing

/// The precedence of backoffs: that of the handler's error, of the job, of the registration, of the type.
@Suite(.timeLimit(.minutes(6))) struct BackoffPrecedenceTests {
    private struct Plain: JobParameters {
        static let jobName = "plain"
    }

    private struct Typed: JobParameters {
        static let jobName = "typed"
        static let jobDefaults = JobDefaults(backoff: RetryDelays(base: .seconds(100), jitter: 0))
        var retryAfter: Int?
    }

    private let broker = TestBroker()

    private func worker(_ strategy: (any JobRetryStrategy)? = nil) -> Worker {
        let worker = Worker(broker: broker, logger: Logger(label: "test"))
        worker.registerJob(parameters: Plain.self, retryStrategy: strategy) { _, _ in throw JobFailure("broken") }
        worker.registerJob(parameters: Typed.self, retryStrategy: strategy) { job, _ in
            throw JobFailure("broken", retryAfter: job.retryAfter.map { .seconds($0) })
        }
        return worker
    }

    /// The milliseconds that a job waits after its first failure.
    private func wait(
        _ job: some JobParameters,
        _ options: PushOptions = PushOptions(),
        strategy: (any JobRetryStrategy)? = nil
    ) async throws -> Int64 {
        try await broker.running(worker(strategy)) {
            let receipt = try await broker.producer().push(job, options: options)
            #expect(try await broker.performNext()?.state == .retrying)
            let record = try #require(try await broker.inspect([receipt.id], on: receipt.queue).first ?? nil)
            return try #require(record.at) - (try await broker.now(on: "default"))
        }
    }

    private let own = PushOptions(backoff: RetryDelays(base: .seconds(300), longest: .seconds(300), jitter: 0))
    private let strategy = RetryDelays(base: .seconds(200), jitter: 0)

    @Test func `by default the default delays apply`() async throws {
        #expect((12_000...15_000).contains(try await wait(Plain())))
    }

    @Test func `the type's delays apply`() async throws {
        #expect(try await wait(Typed()) == 100_000)
    }

    @Test func `the registration takes precedence over the type`() async throws {
        #expect(try await wait(Typed(), strategy: strategy) == 200_000)
    }

    @Test func `the job takes precedence over the registration`() async throws {
        #expect(try await wait(Typed(), own, strategy: strategy) == 300_000)
        #expect(try await wait(Plain(), own) == 300_000)
    }

    @Test func `the handler takes precedence over the job`() async throws {
        #expect(try await wait(Typed(retryAfter: 7), own, strategy: strategy) == 7000)
    }

    @Test func `a job is retried three times by default`() async throws {
        try await broker.running(worker()) {
            var endings = [try await broker.perform(Plain())?.state]
            for _ in 1...3 {
                try await broker.advance(by: .seconds(3600))
                endings.append(try await broker.performNext()?.state)
            }
            #expect(endings == [.retrying, .retrying, .retrying, .dead])
        }
    }

    @Test func `the last of the default retries starts at least 60 s after the first failure`() async throws {
        try await broker.running(worker()) {
            #expect(try await broker.perform(Plain())?.state == .retrying)
            let failed = try await broker.now(on: "default")
            var state = JobState.retrying
            while state == .retrying {
                try await broker.advance(by: .seconds(1))
                state = try await broker.performNext()?.state ?? .retrying
            }
            #expect(state == .dead)
            #expect(try await broker.now(on: "default") - failed >= 60_000)
        }
    }
}
