import Errand
import ErrandCommandLine
import ErrandRedis
import Synchronization

/// The broker that is measured, and how its processes reach it.
final class BenchStage: Sendable {
    let broker: RedisBroker
    /// What tells a worker process which broker is meant. It may hold a password.
    let brokerURL: String
    /// How many jobs a measurement of throughput takes.
    let jobs: Int
    /// How many worker processes drain.
    let workers: Int
    /// How many jobs a worker runs at once.
    let concurrency: Int
    /// How many pick-ups by idle workers a run times.
    let probes: Int
    /// What the names of all queues begin with; by chance, so that nobody else's queue is meant.
    private let prefix = "bench-\(String(UInt32.random(in: 0..<60_466_176), radix: 36))-"
    private let made = Mutex(Made())

    private struct Made: Sendable {
        var count = 0
        var left: [String] = []
    }

    /// How long is waited, in all, for a server that writes its files anew: one that others use may do so all the time.
    let patience = Mutex(Duration.seconds(120))

    init(broker: RedisBroker, brokerURL: String, jobs: Int, workers: Int, concurrency: Int, probes: Int) {
        self.broker = broker
        self.brokerURL = brokerURL
        self.jobs = jobs
        self.workers = workers
        self.concurrency = concurrency
        self.probes = probes
    }

    /// How many jobs a measurement takes that has a round trip a job.
    var fewJobs: Int { max(1000, jobs / 10) }
    /// How many jobs a long measurement takes; a queue holds no more than ten million.
    var manyJobs: Int { min(10_000_000, jobs * 10) }

    var producer: Producer { Producer(broker: broker) }

    /// A queue that nobody has used; removed by ``tidyUp()``.
    func queue() -> String {
        made.withLock { made in
            let name = prefix + String(made.count)
            made.count += 1
            made.left.append(name)
            return name
        }
    }

    /// A job of about 100 bytes as a producer writes it, with what it must say; what is stored of it is said with the results. More where
    /// told otherwise.
    func job(
        _ operation: String,
        on queue: String,
        name: String? = nil,
        unique: UniquenessPolicy? = nil,
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
            unique: unique ?? .ignore
        )
    }

    /// How many jobs of a queue have come to this total, asked with one short command.
    func total(_ what: String, of queue: String) async throws -> Int {
        let answer = try await broker.command(.command("HGET", KeySpace.key(of: queue) + ":counters", what))
        return answer.text.flatMap { Int($0) } ?? 0
    }

    /// Waits until so many jobs have come to a total. It looks when about half of what is left may be done, and every 2 ms at the
    /// beginning and the end: who is measured needs the processors. What runs faster than it began is noticed an eighth late at the most.
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
                    "not \(count) jobs of \(queue) were \(what) within \(limit)",
                    ExitStatus.unsuccessful
                )
            }
            let left = passed * (Double(count - reached) / Double(max(1, reached)))
            try await Task.sleep(for: max(min(left / 2, passed / 8, .milliseconds(100)), .milliseconds(2)))
        }
    }

    /// INFO, as the server tells it now.
    func info() async throws -> RedisInfo {
        RedisInfo(text: try await broker.command(.command("INFO", "everything")).text ?? "")
    }

    /// Removes the queues that were made so far, with what the measurements left in them.
    func tidyUp() async throws {
        for queue in made.withLock({ $0.left }) {
            try await remove(queue)
            made.withLock { $0.left.removeAll { $0 == queue } }
        }
    }
}

extension Duration {
    /// Jobs a second, when so many took this time.
    func rate(of jobs: Int) -> Double { Double(jobs) / (self / .seconds(1)) }
}
