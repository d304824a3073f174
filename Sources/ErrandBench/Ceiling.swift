import Errand
import ErrandCommandLine
import ErrandRedis
import Foundation

/// What the server alone can do: `redis-benchmark` of one script that runs the claim's body and then the finish's body
/// for 50 jobs.
struct Ceiling {
    let broker: RedisBroker
    let jobs: Int
    private let queue = "ceiling-\(getpid())"

    init(broker: RedisBroker, jobs: Int) {
        self.broker = broker
        self.jobs = jobs
    }

    func measure() async throws -> Double {
        _ = try await Drain(broker: broker, queue: queue, jobs: jobs, logger: CommandLogger.make("ceiling")).push()
        let session = Session(
            id: "ceiling\(getpid())",
            host: "ceiling",
            pid: getpid(),
            concurrency: 1,
            queues: [queue],
            lease: .seconds(3600),
            operations: ["noop": OperationDefaults()]
        )
        try await broker.register(session, on: queue)
        let digest = try await broker.load(both)
        let calls = jobs / 50
        let start = ContinuousClock.now
        try runBenchmark(digest, session: session.id, calls: calls)
        let elapsed = ContinuousClock.now - start
        let status = try await broker.status(of: queue).queue
        try await broker.release(session, on: queue)
        _ = try await broker.clear(queue)
        guard status.ready < 50 else {
            throw CommandFailure("the ceiling left \(status.ready) jobs", ExitStatus.unsuccessful)
        }
        return Double(calls * 50) / (elapsed / .seconds(1))
    }

    /// The exchange script twice in one: once to claim, once to report what was claimed.
    private var both: [UInt8] {
        let text = Script.all.first { $0.name == "exchange" }?.text ?? []
        let body = text.drop { $0 != UInt8(ascii: "\n") }
        return Array("#!lua flags=allow-oom\nlocal function exchange(KEYS, ARGV)\n".utf8) + body
            + Array(
                """

                end
                local number = redis.call('HINCRBY', KEYS[1] .. ':ceiling', 'calls', 2)
                local got = exchange(KEYS, { ARGV[1], tostring(number), '50', '8', '0', '7500', '17500', '8388608', '0' })
                local report = { ARGV[1], tostring(number + 1), '0', '0', '0', '7500', '17500', '8388608', tostring(#got[3]) }
                for i, id in ipairs(got[3]) do
                  for _, value in ipairs({ id, got[2], 'f', '1', '0', '"operation":"noop","name":null', 'null', '', '' }) do
                    report[#report + 1] = value
                  end
                end
                return exchange(KEYS, report)
                """.utf8
            )
    }

    private func runBenchmark(_ digest: String, session: String, calls: Int) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["redis-benchmark"] + broker.address.redisBenchmarkArguments
            + [
                "-c", "1", "-P", "1", "-n", String(calls), "-q", "EVALSHA", digest, "1", KeySpace.key(of: queue),
                session,
            ]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw CommandFailure("redis-benchmark failed", ExitStatus.unavailable)
        }
    }
}
