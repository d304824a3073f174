import Errand
import Synchronization

/// Lets concurrent small pushes to one queue share a call.
///
/// A push that finds the batcher free is sent at once. While the maximum number of calls is under way, later pushes
/// wait for the next call to end. Then the first of them leads: it sends the jobs of all of them and passes the others
/// their outcomes. This is a group commit, as in databases: no push waits for others, and under load they share the
/// fixed cost of a script.
final class PushBatcher: Sendable {
    /// What a push has to do.
    enum Ticket: Sendable {
        /// Send its own jobs and those of the followers, pass these their outcomes, and then leave.
        case lead([Follower])
        /// Nothing: another push has sent its jobs, with this outcome.
        case told(Result<[Receipt], BrokerError>)
    }

    /// A push whose jobs another push sends.
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

    /// Two, so that the server works on one call while the replies to the other are read.
    private static let mostUnderWay = 2
    private static let mostJobs = 500
    private static let mostBytes = 1 << 20

    private let gates = Mutex<[String: Gate]>([:])

    /// Whether jobs are few and small enough to share a call. Other pushes are sent on their own.
    static func admits(_ jobs: [JobEnvelope]) -> Bool {
        jobs.count <= 64 && jobs.reduce(0) { $0 + $1.bytes.count } <= mostBytes / 8
    }

    /// Waits for a turn. A push that leads must call ``leave(_:after:)``.
    ///
    /// - Parameter patience: How long the push may wait behind calls that do not reach the broker.
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

    /// Lets the next pushes proceed. If the broker was not reached, pushes whose patience is over get that error
    /// instead: if they were sent in groups that each wait as long, the last of many would wait forever.
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
    /// Whether no reply came from the broker.
    fileprivate var isUnheard: Bool {
        switch self {
        case .success(let receipts): !receipts.isEmpty && receipts.allSatisfy { $0.outcome == .unknown }
        case .failure(let error): error.code == .notReachable
        }
    }

    /// The error for pushes that were never sent.
    fileprivate var reason: BrokerError {
        if case .failure(let error) = self { return error }
        return BrokerError(.notReachable, "the broker did not reply to earlier pushes; this push was not sent")
    }
}

extension PushBatcher.Gate {
    fileprivate mutating func takeImpatient(at now: ContinuousClock.Instant) -> [PushBatcher.Follower] {
        // The followers are in the order of their arrival.
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
