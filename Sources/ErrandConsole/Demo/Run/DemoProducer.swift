import Errand
import ErrandCommandLine
import ErrandRedis
import Synchronization

/// A producer that pushes the demo's jobs in batches.
final class DemoProducer: Sendable {
    /// Files per batch; with repeats, a batch stays below the number that the broker processes in one step.
    private static let batch = 100
    /// The largest number of unverified jobs. The queue keeps its last 10,000 results, so none is missed.
    private static let window = 5000
    /// The number of jobs that never finish.
    static let stuckJobs = 3

    private let jobs: DemoJobs
    private let broker: RedisBroker
    private let ledger: DemoLedger
    /// The number of the next job beyond the planned ones.
    private let nextExtra: Mutex<Int>
    private let allPushed = Atomic(false)

    init(jobs: DemoJobs, broker: RedisBroker, ledger: DemoLedger) {
        self.jobs = jobs
        self.broker = broker
        self.ledger = ledger
        nextExtra = Mutex(jobs.planned)
    }

    /// Pushes all planned jobs, a third of them twice.
    func pushAll() async throws {
        try await push((1...Self.stuckJobs).map { Push(envelope: try jobs.stuck($0), task: .stuck) })
        var late: [Int] = []
        for start in stride(from: 0, to: jobs.planned, by: Self.batch) {
            let numbers = start..<min(start + Self.batch, jobs.planned)
            try await push((late + numbers.flatMap { jobs.repeats($0).atOnce ? [$0, $0] : [$0] }).map(checksum))
            late = numbers.filter { jobs.repeats($0).later }
        }
        try await push(late.map(checksum))
        allPushed.store(true, ordering: .releasing)
    }

    /// Whether all planned jobs have been pushed.
    var hasPushedAll: Bool { allPushed.load(ordering: .acquiring) }

    /// Pushes more jobs than planned: the same files with new names.
    func pushExtra(_ count: Int) async throws {
        let start = nextExtra.withLock { next in
            defer { next += count }
            return next
        }
        try await push((start..<start + count).map(checksum))
    }

    private struct Push {
        let envelope: JobEnvelope
        let task: DemoLedger.Task
    }

    private func checksum(_ number: Int) throws -> Push {
        Push(envelope: try jobs.checksum(number), task: .checksum(jobs.file(of: number)))
    }

    private func push(_ batch: [Push]) async throws {
        while ledger.unverified + batch.count > Self.window { try await Task.sleep(for: .milliseconds(5)) }
        try Task.checkCancellation()
        ledger.expect(batch.map { ($0.envelope.id, $0.task) })
        var open = batch.map(\.envelope)
        var tries = 0
        while !open.isEmpty {
            let receipts = try await Producer(broker: broker).push(envelopes: open)
            open = try zip(open, receipts).filter { try !settle($0, $1) }.map { $0.0 }
            tries += 1
            // The reply was lost. A repeated push with the same id never makes a second job.
            guard open.isEmpty || tries < 10 else {
                throw CommandFailure("the broker's replies to pushes were lost \(tries) times", ExitStatus.unknown)
            }
        }
    }

    /// Records a receipt; returns `false` if the reply was lost.
    private func settle(_ job: JobEnvelope, _ receipt: Receipt) throws -> Bool {
        switch receipt.outcome {
        case .accepted, .exists: ledger.settle(job.id, isAccepted: true)
        case .dropped: ledger.settle(job.id, isAccepted: false)
        case .unknown: return false
        case .replaced, .deferred:
            throw CommandFailure(
                "a push with policy drop had the outcome \(receipt.outcome.rawValue)",
                ExitStatus.unsuccessful
            )
        }
        return true
    }
}
