import Errand
import Foundation

/// The handlers of the fault scenarios' jobs. Each writes `begin`, and `end` when it has done all of its work.
struct FaultOperations {
    let ledger: LedgerWriter

    /// A job's arguments: its duration, its checksum, and what to wait for.
    struct Work: Decodable {
        var ms: Int?
        var id: String?
        var pad: String?
        var sum: UInt64?
        var gate: String?
    }

    var all: [RegisteredOperation] {
        [
            blocking("mark") { _, _ in },
            blocking("nap") { job, work in try Self.nap(job, work.ms ?? 100) },
            blocking("block") { _, work in usleep(UInt32(clamping: (work.ms ?? 100) * 1000)) },
            blocking("spin") { job, work in Self.spin(job, work.ms ?? 100) },
            blocking("gate") { job, work in try Self.await(work.gate ?? "/nowhere", job) },
            blocking("wedge") { _, _ in while true { sleep(3600) } },
            blocking("fail") { _, _ in throw JobFailure("told to fail") },
            blocking("failonce") { job, _ in if job.attempt == 1 { throw JobFailure("told to fail once") } },
            blocking("final") { _, _ in throw JobFailure("told to fail for good", isFinal: true) },
            blocking("chatter") { _, _ in throw JobFailure(Self.chatter) },
            blocking("trap") { _, _ in fatalError("told to trap") },
            blocking("hog") { _, _ in Self.hog() },
            blocking("snooze") { job, work in
                if let gate = work.gate, !FileManager.default.fileExists(atPath: gate) {
                    throw JobSnooze(for: .milliseconds(200))
                }
            },
            asynchronous("note") { _, work in try await Task.sleep(for: .milliseconds(work.ms ?? 100)) },
            // Blocks a thread of the cooperative pool, as careless code does.
            asynchronous("blockpool") { _, work in Self.block(work.ms ?? 100) },
            asynchronous("holdpool") { _, work in Self.hold(until: work.gate ?? "/nowhere") },
            asynchronous("progress") { job, work in try await Self.tell(job, pausing: (work.ms ?? 0) / 4) },
            asynchronous("wedgepool") { _, _ in
                while true { await Task.yield() }
            },
        ]
    }

    private func blocking(
        _ name: String,
        _ body: @escaping @Sendable (JobContext, Work) throws -> Void
    ) -> RegisteredOperation {
        operation(
            name,
            .blocking { job in
                let work = try begin(job)
                try body(job, work)
                ledger.write("end", job)
                return .finished()
            }
        )
    }

    private func asynchronous(
        _ name: String,
        _ body: @escaping @Sendable (JobContext, Work) async throws -> Void
    ) -> RegisteredOperation {
        operation(
            name,
            .async { job in
                let work = try begin(job)
                try await body(job, work)
                ledger.write("end", job)
                return .finished()
            }
        )
    }

    /// Jobs that fail are not retried unless a scenario wants it, and then soon, so that scenarios are short.
    private func operation(_ name: String, _ handler: OperationHandler) -> RegisteredOperation {
        RegisteredOperation(
            name,
            defaults: OperationDefaults(retries: 0),
            retryStrategy: RetryDelays(base: .seconds(1), longest: .seconds(300), jitter: 1),
            handler: handler
        )
    }

    /// Records that the job begins, and whether its arguments are intact.
    private func begin(_ job: JobContext) throws -> Work {
        let work = try job.arguments.decode(Work.self)
        let isWhole = (work.id ?? job.id) == job.id && (work.sum ?? 0) == Self.sum(work.pad)
        ledger.write(isWhole ? "begin" : "wrong", job)
        return work
    }

    /// FNV-1a of a text; 0 for none.
    static func sum(_ pad: String?) -> UInt64 {
        guard let pad else { return 0 }
        return pad.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 } & 0xffff_ffff
    }
}

extension FaultOperations {
    /// A message that is much too long, with text that should not be repeated everywhere.
    private static let chatter = "password=hunter2 " + String(repeating: "tell tale \u{1b}[31m ", count: 600_000)

    private static func nap(_ job: JobContext, _ milliseconds: Int) throws {
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        while ContinuousClock.now < end {
            if job.isCancelled { throw CancellationError() }
            usleep(2000)
        }
    }

    private static func spin(_ job: JobContext, _ milliseconds: Int) {
        let end = ContinuousClock.now + .milliseconds(milliseconds)
        while ContinuousClock.now < end, !job.isCancelled {}
    }

    private static func await(_ gate: String, _ job: JobContext) throws {
        while !FileManager.default.fileExists(atPath: gate) {
            if job.isCancelled { throw CancellationError() }
            usleep(5000)
        }
    }

    private static func block(_ milliseconds: Int) { usleep(UInt32(clamping: milliseconds * 1000)) }

    private static func hold(until gate: String) {
        while !FileManager.default.fileExists(atPath: gate) { usleep(5000) }
    }

    /// Reports progress, and checks that its checkpoint is the last one that it stored.
    private static func tell(_ job: JobContext, pausing milliseconds: Int) async throws {
        for step in 1...4 {
            try await Task.sleep(for: .milliseconds(milliseconds))
            try await insist { try await job.progress(Double(step) / 4, "step \(step)") }
            try await insist { try await job.checkpoint(step) }
            let kept = try await insist { try await job.checkpoint(as: Int.self) }
            guard kept == step else { throw JobFailure("kept was \(kept ?? 0), not \(step)", isFinal: true) }
        }
    }

    /// Repeats a call while its reply is lost; a repetition does no harm.
    private static func insist<Value: Sendable>(_ call: () async throws -> Value) async throws -> Value {
        while true {
            do { return try await call() } catch let error as BrokerError {
                guard [.notReachable, .outcomeUnknown].contains(error.code) else { throw error }
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Allocates memory until the process is killed.
    private static func hog() {
        var taken: [[UInt8]] = []
        while true { taken.append([UInt8](repeating: UInt8(taken.count & 255), count: 1 << 20)) }
    }
}
