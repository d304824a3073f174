import Errand
import ErrandCommandLine
import ErrandRedis
import ErrandText
import Foundation
import Synchronization

/// The broker to measure and its settings.
final class BenchStage: Sendable {
    let broker: RedisBroker
    /// The URL of the broker for worker processes, which may contain a password.
    let brokerURL: String
    /// Whether the server is the benchmark's own.
    let hasOwnServer: Bool
    /// The number of jobs in a measurement of throughput.
    let jobs: Int
    /// The number of worker processes that drain.
    let workers: Int
    /// The number of jobs that a worker runs at the same time.
    let concurrency: Int
    /// The number of timed pick-ups by idle workers in a run.
    let probes: Int
    /// The prefix of all queue names. It is random, so that no existing queue is affected.
    private let prefix = "bench-\(String(UInt32.random(in: 0..<60_466_176), radix: 36))-"
    private let made = Mutex(Made())

    private struct Made: Sendable {
        var count = 0
        var left: [String] = []
    }

    /// The total time to wait for a server that rewrites its files; one that other clients use may do so all the time.
    let patience = Mutex(Duration.seconds(120))

    init(
        broker: RedisBroker,
        brokerURL: String,
        hasOwnServer: Bool,
        jobs: Int,
        workers: Int,
        concurrency: Int,
        probes: Int
    ) {
        self.broker = broker
        self.brokerURL = brokerURL
        self.hasOwnServer = hasOwnServer
        self.jobs = jobs
        self.workers = workers
        self.concurrency = concurrency
        self.probes = probes
    }

    /// The number of jobs in a measurement with one round trip per job.
    var fewJobs: Int { max(1000, jobs / 10) }
    /// The number of jobs in a long measurement; a queue takes at most ten million.
    var manyJobs: Int { min(10_000_000, jobs * 10) }

    var producer: Producer { Producer(broker: broker) }

    /// Registers a session without a worker, whose lease outlasts the measurement.
    func register(on queue: String) async throws -> Session {
        let session = Session(
            id: "bench\(ProcessInfo.processInfo.processIdentifier)",
            host: "bench",
            pid: 1,
            concurrency: 1,
            queues: [queue],
            lease: .seconds(3600),
            operations: [BenchOperations.noop: OperationDefaults()]
        )
        try await broker.register(session, on: queue)
        return session
    }

    /// Returns the name of a new queue, which ``tidyUp()`` removes.
    func queue() -> String {
        made.withLock { made in
            let name = prefix + String(made.count)
            made.count += 1
            made.left.append(name)
            return name
        }
    }

    /// Makes a typical job as a producer writes it, with arguments of about `bytes` bytes. The results include its
    /// stored size.
    func job(
        _ operation: String,
        on queue: String,
        name: String? = nil,
        unique: UniquenessPolicy? = nil,
        group: String? = nil,
        bytes: Int = 100
    )
        throws -> OperationDescription
    {
        let frame = 86 + operation.utf8.count
        let padding = String(repeating: "x", count: max(1, bytes - frame))
        return try OperationDescription(
            operation,
            arguments: ["x": .init(stringLiteral: padding)],
            queue: queue,
            name: name,
            unique: unique ?? .ignore,
            group: group
        )
    }

    /// Returns the total of a queue's counter, read with one short command.
    func total(_ what: String, of queue: String) async throws -> Int {
        let key = KeySpace.key(of: queue) + ":counters"
        let answer = try await broker.command(.command("HGET", key, what), for: .queue(queue))
        return answer.text.flatMap { Int($0) } ?? 0
    }

    /// Waits until a total reaches a count. It polls when about half of the rest may be done, and every 2 ms at the
    /// beginning and the end, to leave the processors to the measurement. If the rate rises, it notices the end at most
    /// an eighth late.
    func await(
        _ what: String,
        of queue: String,
        toReach count: Int,
        within limit: Duration = .seconds(600)
    ) async throws {
        let start = ContinuousClock.now
        while case let reached = try await total(what, of: queue), reached < count {
            let passed = ContinuousClock.now - start
            guard passed < limit else {
                throw CommandFailure(
                    "only \(reached) of \(count) jobs of \(queue) were \(what) within \(TimeSpanText.exact(limit))",
                    ExitStatus.unsuccessful
                )
            }
            let left = passed * (Double(count - reached) / Double(max(1, reached)))
            try await Task.sleep(for: max(min(left / 2, passed / 8, .milliseconds(100)), .milliseconds(2)))
        }
    }

    /// Returns the present INFO of each server that has queues.
    func info() async throws -> [RedisInfo] {
        var all: [RedisInfo] = []
        for server in try await broker.allServers() {
            let info = try await broker.command(.command("INFO", "everything"), for: .server(server))
            all.append(RedisInfo(text: info.text ?? ""))
        }
        return all
    }

    /// Removes the queues of the measurements with all their data.
    func tidyUp() async throws {
        for queue in made.withLock({ $0.left }) {
            try await remove(queue)
            made.withLock { $0.left.removeAll { $0 == queue } }
        }
    }
}

extension Duration {
    /// Returns the rate in jobs per second for this number of jobs.
    func rate(of jobs: Int) -> Double { Double(jobs) / (self / .seconds(1)) }
}
