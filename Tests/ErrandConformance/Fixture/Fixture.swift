import Errand
import Foundation
import Synchronization
import Testing

/// A new queue of the broker under test, with short functions for the cases.
///
/// Ids are plain letters, because only one case uses a queue.
struct Fixture: Sendable {
    let broker: any Broker
    let queue: String
    let log: EventLog

    init(_ broker: any Broker, neighbour: (String) -> String) async throws {
        self.broker = broker
        queue = "conformance-" + UUID().uuidString.lowercased()
        try await broker.createQueue(queue)
        log = try await EventLog(broker, queue: queue, fenceQueue: neighbour(queue))
    }

    /// Makes a fixture of another new queue, with the same log.
    init(beside other: Fixture) async throws {
        self.init(besideWithoutQueue: other)
        try await broker.createQueue(queue)
    }

    /// Makes a fixture of another queue, which does not exist yet, with the same log.
    init(besideWithoutQueue other: Fixture) {
        broker = other.broker
        queue = "conformance-" + UUID().uuidString.lowercased()
        log = other.log
    }

    func close() async { await log.close() }
}

/// Making and pushing jobs.
extension Fixture {
    static let operation = "work"

    /// Makes an envelope; with `delay`, it is due this number of milliseconds from now.
    func job(
        _ id: String,
        _ policy: UniquenessPolicy = .ignore,
        until: UniqueUntil? = nil,
        name: String? = nil,
        window: Duration? = nil,
        atMost: Duration? = nil,
        operation: String = Fixture.operation,
        priority: Int? = nil,
        delay: Int64? = nil,
        timeout: Duration? = nil,
        retries: Int? = nil,
        tags: [String] = [],
        expiresIn: Duration? = nil,
        group: String? = nil,
        cost: Int? = nil
    ) throws -> JobEnvelope {
        try OperationDescription(
            operation,
            queue: queue,
            name: name ?? (policy.needsName ? "the name" : nil),
            unique: policy,
            uniqueUntil: until,
            window: window ?? (policy.hasWindow ? .seconds(3600) : nil),
            atMost: atMost,
            timeout: timeout,
            notBefore: delay.map { Self.milliseconds + $0 },
            expiresIn: expiresIn,
            retries: retries,
            priority: priority,
            group: group,
            cost: cost,
            id: id,
            tags: tags
        ).makeEnvelope()
    }

    static var milliseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    @discardableResult
    func push(_ jobs: JobEnvelope...) async throws -> [Receipt] { try await broker.push(jobs, to: queue) }

    /// Pushes one job and returns its receipt.
    func receipt(_ job: JobEnvelope) async throws -> Receipt { try #require(try await push(job).first) }

    /// Pushes plain jobs with these ids in one batch.
    func pushPlain(_ ids: String...) async throws {
        let receipts = try await broker.push(try ids.map { try job($0) }, to: queue)
        #expect(receipts.allSatisfy { $0.outcome == .accepted })
    }
}

/// Reading the states of jobs.
extension Fixture {
    /// Returns the events since the last call, each as `kind id`.
    func news() async throws -> [String] { try await log.drain().map { "\($0.kind) \($0.id)" } }

    func state(_ id: String) async throws -> JobState? { try await record(id)?.state }

    func record(_ id: String) async throws -> JobRecord? {
        let records = try await broker.inspect([id], on: queue)
        #expect(records.count == 1)
        return try #require(records.first)
    }

    func status() async throws -> QueueStatus { try await broker.status(of: queue).queue }

    func total(_ name: String) async throws -> Int { try await status().totals[name] }

    func cancel(_ id: String) async throws -> EndingOutcome {
        try #require(try await broker.cancel([id], on: queue).first)
    }

    func delete(_ id: String) async throws -> EndingOutcome {
        try #require(try await broker.delete([id], on: queue).first)
    }

    func retry(_ id: String) async throws -> RetryOutcome {
        try #require(try await broker.retry([id], on: queue).first)
    }
}

/// Waiting for the broker's clock, which has no events.
extension Fixture {
    struct TookTooLong: Error, CustomStringConvertible {
        let description: String
    }

    /// Polls until a condition holds.
    func eventually(
        _ what: String,
        within limit: Duration = .seconds(120),
        every pause: Duration = .milliseconds(10),
        _ isSo: () async throws -> Bool
    ) async throws {
        let end = ContinuousClock.now + limit
        while try await !isSo() {
            guard ContinuousClock.now < end else { throw TookTooLong(description: "not within \(limit): \(what)") }
            try await Task.sleep(for: pause)
        }
    }

    /// Pushes jobs that are due a little later and returns their ids. If a slow machine makes one of them due on
    /// arrival, it pushes others with longer delays.
    func pushSoon(_ make: (_ scale: Int64) throws -> [JobEnvelope]) async throws -> [String] {
        for scale: Int64 in [1, 10, 100] {
            let jobs = try make(scale)
            _ = try await broker.push(jobs, to: queue)
            let ids = jobs.map(\.id)
            let records = try await broker.inspect(ids, on: queue)
            if records.allSatisfy({ $0?.state == .scheduled }) { return ids }
            _ = try await broker.cancel(ids, on: queue)
        }
        throw TookTooLong(description: "the machine is too slow to schedule a job")
    }

    /// Recovers until this number of jobs was recovered.
    func recover(_ count: Int) async throws {
        var recovered = 0
        try await eventually("\(count) jobs recovered") {
            recovered += try await broker.recover(on: queue).recovered
            return recovered >= count
        }
        #expect(recovered == count)
    }

    /// Promotes until this number of jobs became ready, waiting as long as the broker's replies indicate.
    func promote(_ count: Int) async throws {
        var promoted = 0
        try await eventually("\(count) jobs promoted") {
            let promotion = try await broker.promote(on: queue)
            promoted += promotion.promoted
            if promoted < count { try await Task.sleep(for: .milliseconds(promotion.nextDue ?? 0)) }
            return promoted >= count
        }
        #expect(promoted == count)
    }
}
