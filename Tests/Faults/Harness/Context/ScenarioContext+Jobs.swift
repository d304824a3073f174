import Errand
import ErrandRedis
import Foundation
import Synchronization
import TestSupport

/// What a scenario's jobs are like.
struct JobOptions: Sendable {
    var milliseconds: Int?
    var pad = 0
    /// What its arguments carry instead of so many bytes.
    var text: String?
    var gate: String?
    var queue = ScenarioContext.queue
    var name: String?
    var unique = UniquenessPolicy.ignore
    var timeout: Duration?
    var delay: Int64?
    var retries: Int?
    var priority: Int?
    /// Whether its run is meant to reach its end.
    var ends = true
}

extension ScenarioContext {
    /// Makes a job; its arguments name its id and a sum, so that a run sees whether it got what was pushed.
    func job(_ operation: String, _ options: JobOptions = JobOptions()) throws -> JobEnvelope {
        let id = "f" + String(UInt64.random(in: 0 ... .max), radix: 36)
        // The job's own id again and again: no two jobs have the same.
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

    /// Pushes so many jobs alike in one call, and answers their ids.
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

    /// Calls again for as long as the answer is lost, or nobody is there.
    @discardableResult
    func insist<Value: Sendable>(_ call: () async throws -> Value) async throws -> Value {
        while true {
            do { return try await call() } catch let error as BrokerError {
                guard [.notReachable, .outcomeUnknown].contains(error.code) else { throw error }
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Pushes jobs, the same again for as long as an answer is lost or nobody is there to take them.
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
