import Errand
import Logging
import Testing

extension WorkerCase {
    static var typed: [WorkerCase] {
        [
            WorkerCase("a typed job runs with its parameters, its logger, and gives a typed result") { fixture in
                let recorder = Recorder()
                let workers = TestWorkers(fixture) { worker in
                    worker.registerJob(parameters: Sum.self) { sum, context in
                        recorder.note(Logger.current[metadataKey: "job.id"].map { "\($0)" } ?? "no logger")
                        return Sum.Total(total: sum.terms.reduce(0, +), attempt: context.attempt)
                    }
                }
                let producer = Producer(broker: fixture.broker)
                let receipt = try await producer.push(Sum(terms: [1, 2, 3]), options: fixture.options)
                let total = try await producer.result(of: receipt, as: Sum.Total.self, within: .seconds(120))
                #expect(total == Sum.Total(total: 6, attempt: 1))
                #expect(recorder.lines == [receipt.id])
                try await workers.dismiss()
            },
            WorkerCase("a type with its own handler is pushed in a batch and awaited") { fixture in
                let workers = TestWorkers(fixture) { $0.registerJob(Greeting.self) }
                let producer = Producer(broker: fixture.broker)
                let receipts = try await producer.push(
                    contentsOf: ["Ada", "", "Grace"].map(Greeting.init),
                    options: fixture.options
                )
                var endings: [JobEnding] = []
                for receipt in receipts {
                    endings.append(try await producer.ending(of: receipt, within: .seconds(120)))
                }
                #expect(endings.map(\.state) == [.finished, .dead, .finished])
                #expect(endings[1].error == "nobody to greet")
                let error = await #expect(throws: JobNotFinished.self) {
                    try await producer.result(of: receipts[1], within: .seconds(120))
                }
                #expect(error?.state == .dead)
                try await workers.dismiss()
            },
            WorkerCase("waiting for a result ends at once for jobs that have ended, are unknown or out of time") {
                fixture in
                let producer = Producer(broker: fixture.broker)
                let waiting = try await producer.push(Greeting(name: "Ada"), options: fixture.options)
                let late = await #expect(throws: JobNotFinished.self) {
                    try await producer.result(of: waiting, within: .milliseconds(50))
                }
                #expect(late?.isOutOfTime == true)
                #expect(late?.state == .ready)
                #expect(late?.error == "no worker serves queue \(fixture.queue)", "\(late?.error ?? "")")
                _ = try await fixture.cancel(waiting.id)
                let cancelled = await #expect(throws: JobNotFinished.self) { try await producer.result(of: waiting) }
                #expect(cancelled?.state == .cancelled)
                let unknown = Receipt(id: "nobody", queue: fixture.queue, outcome: .accepted)
                let missing = await #expect(throws: JobNotFinished.self) { try await producer.result(of: unknown) }
                #expect(missing?.state == nil)
            },
            WorkerCase("jobs of an older version are upgraded, of a newer version left alone, and of a former name run")
            {
                fixture in
                let workers = TestWorkers(fixture) { worker in
                    worker.registerJob(parameters: Letter.self) { letter, _ in letter.text }
                }
                let producer = Producer(broker: fixture.broker)
                func push(_ name: String, _ arguments: JSONText, version: String? = nil) async throws -> Receipt {
                    try await producer.push(
                        OperationDescription(
                            name,
                            arguments: arguments,
                            queue: fixture.queue,
                            meta: version.map { ["errand.version": $0] } ?? [:]
                        )
                    )
                }
                let old = try await push("letter", ["body": "old"])
                let renamed = try await push("note", ["text": "renamed"], version: "2")
                let now = try await producer.push(Letter(text: "now"), options: fixture.options)
                let newer = try await push("letter", ["lines": ["newer"]], version: "3")
                let wrong = try await push("letter", ["wrong": true], version: "2")
                for (receipt, text) in [(old, "old"), (renamed, "renamed"), (now, "now")] {
                    #expect(try await producer.result(of: receipt, as: String.self, within: .seconds(120)) == text)
                }
                let refused = try await producer.ending(of: wrong, within: .seconds(120))
                #expect(refused.state == .dead)
                #expect(refused.error?.contains("do not fit Letter, version 2") == true)
                try await fixture.eventually("the newer one waits") { try await fixture.state(newer.id) == .retrying }
                #expect(try await fixture.record(newer.id)?.failures == 0)
                try await workers.dismiss()
            },
            WorkerCase("defaults of a type: retries, uniqueness by fields, and a retry strategy") { fixture in
                let recorder = Recorder()
                let workers = TestWorkers(fixture) { worker in
                    worker.registerJob(parameters: Sum.self, retryStrategy: Stubborn()) { sum, context in
                        recorder.note("\(context.attempt)")
                        throw sum.terms.isEmpty ? JobFailure("hopeless") : JobFailure("not yet")
                    }
                }
                let producer = Producer(broker: fixture.broker)
                let patient = try await producer.push(Sum(terms: [1]), options: fixture.options)
                #expect(try await producer.ending(of: patient, within: .seconds(120)).state == .dead)
                #expect(recorder.lines == ["1", "2", "3"])
                let hopeless = try await producer.push(Sum(terms: []), options: fixture.options)
                #expect(try await producer.ending(of: hopeless, within: .seconds(120)).state == .dead)
                #expect(recorder.lines == ["1", "2", "3", "1"])
                try await workers.dismiss()

                let first = try await producer.push(Letter(text: "a", to: "x"), options: fixture.options)
                let same = try await producer.push(Letter(text: "b", to: "x"), options: fixture.options)
                let other = try await producer.push(Letter(text: "a", to: "y"), options: fixture.options)
                #expect([first, same, other].map(\.outcome) == [.accepted, .dropped, .accepted])
                #expect(same.id == first.id)
                let name = try #require(try await fixture.record(first.id))
                // Nobody can read the field in it.
                #expect(
                    try JobEnvelope.read(stored: name.body).description.name
                        == "letter sha256:59672d2948aecafc11f8c37637082ee2a14ac660059cc89477127c20f3b55909"
                )
            },
        ]
    }
}

/// A job with a result.
private struct Sum: JobParameters {
    static let jobName = "sum"
    let terms: [Int]

    struct Total: Codable, Equatable {
        let total: Int
        let attempt: Int
    }
}

/// A job that implements its own handler.
private struct Greeting: Job {
    static let jobName = "greeting"
    static let jobDefaults = JobDefaults(timeout: .seconds(5), retries: 0)
    let name: String

    func execute(context: JobContext) async throws {
        if name.isEmpty { throw JobFailure("nobody to greet", isFinal: true) }
    }
}

/// A job with an alias and an older version.
private struct Letter: JobParameters {
    static let jobName = "letter"
    static let jobAliases = ["note"]
    static let jobVersion = 2
    static let jobDefaults = JobDefaults(uniqueness: .drop(by: "to"))
    let text: String
    var to: String?

    init(text: String, to: String? = nil) {
        self.text = text
        self.to = to
    }

    init(upgrading arguments: JSONText, from version: Int) throws {
        struct Old: Decodable { let body: String }
        self.init(text: try arguments.decode(Old.self).body)
    }
}

/// Two immediate retries, unless the failure is hopeless.
private struct Stubborn: JobRetryStrategy {
    var maxRetries: Int { 2 }
    func shouldRetry(attempt: Int, error: any Error) -> Bool { (error as? JobFailure)?.message != "hopeless" }
    func calculateBackoff(attempt: Int) -> Duration { .zero }
}

extension Fixture {
    /// Options that push to this case's queue.
    var options: PushOptions { PushOptions(queue: queue) }
}
