import Errand
import Synchronization

/// Lets small pushes to one queue that come at the same time share a call.
///
/// A push that finds the batcher free goes at once. Those that come while as many calls as may be are under way wait for
/// the next of them to end; then the first of them leads: it sends the jobs of all, and tells the others what became of theirs.
/// A group commit, as databases have it: nobody waits for company, and under load one script's fixed cost is shared.
final class PushBatcher: Sendable {
    /// What a push is to do.
    enum Ticket: Sendable {
        /// Send its own jobs and those of the followers, tell these, and then leave.
        case lead([Follower])
        /// Nothing; this is what became of its jobs.
        case told(Result<[Receipt], BrokerError>)
    }

    /// A push whose jobs another one sends.
    struct Follower: Sendable {
        let jobs: [JobEnvelope]
        fileprivate let deadline: ContinuousClock.Instant
        fileprivate let continuation: CheckedContinuation<Ticket, Never>

        func tell(_ outcome: Result<[Receipt], BrokerError>) { continuation.resume(returning: .told(outcome)) }
    }

    fileprivate struct Gate: Sendable {
        var underWay = 0
        var waiting: [Follower] = []
    }

    /// Two, so that the server has one to work on while the answers of the other one are read.
    private static let mostUnderWay = 2
    private static let mostJobs = 500
    private static let mostBytes = 1 << 20

    private let gates = Mutex<[String: Gate]>([:])

    /// Whether jobs are few and small enough to share a call. Others are worth one of their own.
    static func admits(_ jobs: [JobEnvelope]) -> Bool {
        jobs.count <= 64 && jobs.reduce(0) { $0 + $1.bytes.count } <= mostBytes / 8
    }

    /// Waits for a turn. Who leads must ``leave(_:after:)``.
    ///
    /// - Parameter patience: for how long it may wait behind calls that do not reach the broker.
    func enter(_ queue: String, with jobs: [JobEnvelope], patience: Duration) async -> Ticket {
        let deadline = ContinuousClock.now + patience
        return await withCheckedContinuation { continuation in
            let isFirst = gates.withLock { gates in
                let isFirst = gates[queue, default: Gate()].underWay < Self.mostUnderWay
                if isFirst {
                    gates[queue, default: Gate()].underWay += 1
                } else {
                    let follower = Follower(jobs: jobs, deadline: deadline, continuation: continuation)
                    gates[queue]?.waiting.append(follower)
                }
                return isFirst
            }
            if isFirst { continuation.resume(returning: .lead([])) }
        }
    }

    /// Lets the next ones through. Where the broker was not reached, those whose patience is over hear so instead: sent in groups
    /// that each wait as long, the last of many would wait for ever.
    func leave(_ queue: String, after outcome: Result<[Receipt], BrokerError>) {
        let now = ContinuousClock.now
        let (given, next) = gates.withLock { gates -> ([Follower], [Follower]) in
            let given = outcome.isUnheard ? gates[queue]?.takeImpatient(at: now) ?? [] : []
            let next = gates[queue]?.takeGroup(mostJobs: Self.mostJobs, mostBytes: Self.mostBytes) ?? []
            guard next.isEmpty else { return (given, next) }
            gates[queue]?.underWay -= 1
            if gates[queue]?.underWay == 0 { gates[queue] = nil }
            return (given, [])
        }
        next.first?.continuation.resume(returning: .lead(Array(next.dropFirst())))
        for follower in given { follower.tell(.failure(outcome.reason)) }
    }
}

extension Result<[Receipt], BrokerError> {
    /// Whether nothing came back from the broker.
    fileprivate var isUnheard: Bool {
        switch self {
        case .success(let receipts): !receipts.isEmpty && receipts.allSatisfy { $0.outcome == .unknown }
        case .failure(let error): error.code == .notReachable
        }
    }

    /// Why who was never sent was not.
    fileprivate var reason: BrokerError {
        if case .failure(let error) = self { return error }
        return BrokerError(.notReachable, "the broker answers nothing; this push was not sent")
    }
}

extension PushBatcher.Gate {
    fileprivate mutating func takeImpatient(at now: ContinuousClock.Instant) -> [PushBatcher.Follower] {
        // They stand in the order in which they came.
        let count = waiting.prefix { $0.deadline <= now }.count
        defer { waiting.removeFirst(count) }
        return Array(waiting.prefix(count))
    }

    fileprivate mutating func takeGroup(mostJobs: Int, mostBytes: Int) -> [PushBatcher.Follower] {
        var (count, jobs, bytes) = (0, 0, 0)
        for follower in waiting {
            jobs += follower.jobs.count
            bytes += follower.jobs.reduce(0) { $0 + $1.bytes.count }
            if count > 0, jobs > mostJobs || bytes > mostBytes { break }
            count += 1
        }
        defer { waiting.removeFirst(count) }
        return Array(waiting.prefix(count))
    }
}
