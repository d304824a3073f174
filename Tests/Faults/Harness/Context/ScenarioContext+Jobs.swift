import Errand
import ErrandRedis
import Foundation
import Synchronization
import TestSupport

/// The properties of a scenario's jobs.
struct JobOptions: Sendable {
    var milliseconds: Int?
    var pad = 0
    /// The payload of its arguments, instead of a number of bytes.
    var text: String?
    var gate: String?
    var queue = ScenarioContext.queue
    var name: String?
    var unique = UniquenessPolicy.ignore
    var timeout: Duration?
    var delay: Int64?
    var retries: Int?
    var priority: Int?
    var group: String?
    /// Whether its run should reach its end.
    var ends = true
}

extension ScenarioContext {
    /// Makes a job; its arguments contain its id and a checksum, so that a run can verify them.
    func job(_ operation: String, _ options: JobOptions = JobOptions()) throws -> JobEnvelope {
        let id = "f" + String(UInt64.random(in: 0 ... .max), radix: 36)
        // The job's own id, repeated, so that no two jobs have the same.
        let filler = options.pad > 0 ? String(repeating: id, count: options.pad / id.utf8.count + 1) : nil
        let pad = options.text ?? filler
        let arguments = Arguments(
            ms: options.milliseconds,
            id: id,
            pad: pad,
            sum: pad.map(Self.sum),
            gate: options.gate
        )
        return try OperationDescription(
            operation,
            encoding: arguments,
            queue: options.queue,
            name: options.name,
            unique: options.unique,
            timeout: options.timeout,
            notBefore: options.delay.map { Self.now + $0 },
            retries: options.retries,
            priority: options.priority,
            group: options.group,
            id: id
        ).makeEnvelope()
    }

    private struct Arguments: Encodable {
        let ms: Int?
        let id: String
        let pad: String?
        let sum: UInt64?
        let gate: String?
    }

    private static func sum(_ pad: String) -> UInt64 {
        pad.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } & 0xffff_ffff
    }

    static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    /// Pushes this many similar jobs in one call, and returns their ids.
    @discardableResult
    func push(
        _ count: Int,
        _ operation: String,
        via broker: RedisBroker? = nil,
        _ change: (inout JobOptions) -> Void = { _ in }
    ) async throws -> [String] {
        var options = JobOptions()
        change(&options)
        let jobs = try (0..<count).map { _ in try job(operation, options) }
        for start in stride(from: 0, to: count, by: 500) {
            try await push(Array(jobs[start..<min(start + 500, count)]), ends: options.ends, via: broker)
        }
        return jobs.map(\.id)
    }

    /// Repeats a call while its reply is lost or the broker is away.
    @discardableResult
    func insist<Value: Sendable>(_ call: () async throws -> Value) async throws -> Value {
        while true {
            do { return try await call() } catch let error as BrokerError {
                guard [.notReachable, .outcomeUnknown].contains(error.code) else { throw error }
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Pushes jobs, and repeats that while a reply is lost or the broker is away.
    @discardableResult
    func push(_ jobs: [JobEnvelope], ends: Bool = true, via broker: RedisBroker? = nil) async throws -> [Receipt] {
        accounts.tries(jobs, ends: ends)
        let producer = Producer(broker: try broker ?? console)
        while true {
            do throws(BrokerError) {
                let receipts = try await producer.push(envelopes: jobs)
                accounts.took(receipts, of: jobs)
                if !receipts.contains(where: { $0.outcome == .unknown }) { return receipts }
            } catch {
                accounts.refused()
                let isPassing = [.notReachable, .full, .outcomeUnknown].contains(error.code)
                let triesAgain = error.code == .refused && state.withLock(\.rules.triesRefusedAgain)
                guard isPassing || triesAgain else { throw error }
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }
}
