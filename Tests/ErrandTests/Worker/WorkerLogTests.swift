import Errand
import InMemoryLogging
import Logging
import Synchronization
import TestSupport
import Testing

/// What a worker logs by itself, without middleware.
@Suite("The log of a worker", .timeLimit(.minutes(6)))
struct WorkerLogTests {
    private struct Broken: Error, CustomStringConvertible { let description = "the disk\nis full" }

    private let fixture = WorkerFixture()

    private var entries: [InMemoryLogHandler.Entry] { fixture.log.entries }

    private func find(_ message: String) -> InMemoryLogHandler.Entry? {
        entries.first { "\($0.message)".hasPrefix(message) }
    }

    private func appears(_ message: String) async throws -> InMemoryLogHandler.Entry {
        try await eventually("\(message) in \(entries.map(\.message))") { find(message) != nil }
        return try #require(find(message))
    }

    private func push(_ operation: String, retries: Int, timeout: Duration = .seconds(60)) async throws {
        let job = try OperationDescription(
            operation,
            queue: WorkerFixture.queue,
            timeout: timeout,
            retries: retries,
            id: operation
        )
        _ = try await Producer(broker: fixture.broker.memory).push(job)
    }

    @Test("a failed run is a warning with its error and when it runs again, and a dead job is an error")
    func failures() async throws {
        let failing = RegisteredOperation("fail") { _ in throw Broken() }
        let dying = RegisteredOperation("die") { _ in throw Broken() }
        let slow = RegisteredOperation("slow") { _ in try await Task.sleep(for: .seconds(3600)) }
        try await fixture.open(fixture.worker([failing, dying, slow])) { _ in
            try await push("fail", retries: 3)
            try await push("die", retries: 0)
            try await push("slow", retries: 3, timeout: .milliseconds(10))
            let warning = try await appears("job failed; it runs again in ")
            #expect(warning.level == .warning)
            #expect(warning.metadata["job.id"] == "fail" && warning.metadata["job.operation"] == "fail")
            #expect(warning.metadata["job.queue"] == "\(WorkerFixture.queue)" && warning.metadata["job.attempt"] == "1")
            #expect(warning.metadata["error"] == #"the disk\u{a}is full"#, "it stays on one line")
            let dead = try await appears("job failed and is dead")
            #expect(dead.level == .error && dead.metadata["job.id"] == "die")
            let late = try await appears("job timed out; it runs again in ")
            #expect(late.level == .warning && late.metadata["job.id"] == "slow")
        }
    }

    @Test("a job that is released or cancelled leaves a line")
    func endings() async throws {
        let begun = Mutex(0)
        let stay = RegisteredOperation("stay") { _ in
            begun.withLock { $0 += 1 }
            try await Task.sleep(for: .seconds(3600))
        }
        try await fixture.open(fixture.worker([stay])) { _ in
            try await fixture.push("cancelled")
            try await eventually("it has begun") { begun.withLock(\.self) == 1 }
            _ = try await fixture.broker.memory.cancel(["cancelled"], on: WorkerFixture.queue)
            #expect(try await appears("job cancelled").level == .notice)
            try await fixture.push("released")
            try await eventually("it has begun") { begun.withLock(\.self) == 2 }
        }
        #expect(find("job released")?.metadata["job.id"] == "released")
    }

    @Test("finished jobs have lines only by choice", arguments: [false, true])
    func finished(isWanted: Bool) async throws {
        let done = RegisteredOperation("done") { _ in }
        try await fixture.open(fixture.worker([done], WorkerConfiguration(logsFinishedJobs: isWanted))) { _ in
            try await fixture.push("one", "done")
            try await eventually("it has finished") { try await fixture.total("finished") == 1 }
        }
        #expect((find("job finished")?.level == .info) == isWanted)
    }

    @Test("the worker says what it serves, that it stops and that it has stopped")
    func states() async throws {
        try await fixture.open(fixture.worker([])) { _ in _ = try await appears("worker serves fixture") }
        #expect(
            entries.map { "\($0.message)".split(separator: " ").prefix(2).joined(separator: " ") }
                == ["worker serves", "worker stops:", "worker has"]
        )
        #expect(entries.allSatisfy { $0.level == .notice })
    }

    @Test("jobs of a lost worker are a line of the worker that recovers them")
    func recovery() async throws {
        let memory = fixture.broker.memory
        let lost = Session(
            id: "lost-session",
            host: "elsewhere",
            pid: 1,
            concurrency: 1,
            queues: [WorkerFixture.queue],
            lease: .milliseconds(500),
            operations: ["done": OperationDefaults()]
        )
        try await memory.register(lost, on: WorkerFixture.queue)
        try await fixture.push("one", "done")
        let claimed = try await memory.exchange(
            Exchange(
                session: lost,
                call: 1,
                reports: [],
                wanted: 1,
                freeSlots: 1,
                begun: 0,
                longestWait: .seconds(2),
                stopGrace: .seconds(2)
            ),
            on: WorkerFixture.queue
        )
        #expect(claimed.claims.count == 1)
        try await fixture.open(fixture.worker([RegisteredOperation("done") { _ in }])) { _ in
            let line = try await appears("jobs of lost workers recovered")
            #expect(line.level == .notice && line.metadata["jobs"] == "1")
            let job = try await appears("job recovered from a lost worker")
            #expect(job.level == .notice && job.metadata["job.id"] == "one" && job.metadata["job.operation"] == "done")
            #expect(job.metadata["job.queue"] == "\(WorkerFixture.queue)" && job.metadata["job.attempt"] == "1")
            #expect(job.metadata["lost.worker.id"] == "lost-session")
        }
    }

    @Test("when every job fails, the lines are limited, and say how many were left out")
    func limit() async throws {
        let failing = RegisteredOperation("fail") { _ in throw Broken() }
        try await fixture.open(fixture.worker([failing])) { _ in
            let jobs = try (0..<200).map {
                try OperationDescription("fail", queue: WorkerFixture.queue, retries: 0, id: "\($0)")
            }
            _ = try await Producer(broker: fixture.broker.memory).push(contentsOf: jobs)
            try await eventually("all are dead") { try await fixture.total("dead") == 200 }
            let lines = entries.count { $0.level == .error }
            #expect((20..<100).contains(lines), "\(lines)")
            // There is room for another line after half a second.
            try await eventually("a later line tells it") {
                let job = try OperationDescription("fail", queue: WorkerFixture.queue, retries: 0)
                _ = try await Producer(broker: fixture.broker.memory).push(job)
                return entries.contains { $0.level == .error && $0.metadata["lines_left_out"] != nil }
            }
        }
    }

    @Test("a broker that does not reply is a warning, and its return a notice that says how long it took")
    func outage() async throws {
        try await fixture.open(fixture.worker([])) { _ in
            _ = try await appears("worker serves")
            fixture.broker.fail(with: BrokerError(.notReachable, "no connection"))
            #expect(try await appears("no reply to the call; retrying").level == .warning)
            fixture.broker.fail(with: nil)
            let back = try await appears("the server accepts calls again")
            #expect(back.level == .notice && back.metadata["after"] != nil)
        }
    }
}
