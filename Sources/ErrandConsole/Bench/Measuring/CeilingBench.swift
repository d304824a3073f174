import Errand
import ErrandCommandLine
import ErrandRedis
import Foundation

/// A measurement of the server alone: `redis-benchmark` with the same scripts, in the same run.
struct CeilingBench {
    let stage: BenchStage

    /// The rates of batches, in jobs per second.
    struct Rates: Sendable {
        /// The rate with one call at a time.
        var oneCall = 0.0
        /// The highest rate with one or several calls at a time, because Errand keeps several in flight.
        var highest = 0.0
    }

    /// Jobs per call of a batch.
    private static let portion = 50

    private func benchmark(of queue: String) async throws -> RedisBenchmark {
        RedisBenchmark(address: try await stage.broker.server(of: queue))
    }

    /// Returns whether the program's arguments can express the address of the server.
    func isPossible() async throws -> Bool {
        try await stage.broker.server(of: stage.queue()).redisBenchmarkArguments != nil
    }

    /// Measures the push script with one job per call and one call at a time.
    func pushOneByOne(jobs: Int) async throws -> Double { try await push(jobs: jobs, portion: 1, .oneCall) }

    /// Measures the push script with 50 jobs per call.
    func pushBatches(jobs: Int) async throws -> Rates {
        try await rates { pace in try await push(jobs: jobs, portion: Self.portion, pace) }
    }

    /// Measures a script that claims 50 jobs and reports them as finished.
    func claimAndFinish(jobs: Int) async throws -> Rates {
        try await rates { pace in try await claimAndFinish(jobs: jobs, pace) }
    }

    private func rates(_ measure: (RedisBenchmark.Pace) async throws -> Double) async throws -> Rates {
        var rates = Rates()
        rates.oneCall = try await measure(.oneCall)
        rates.highest = rates.oneCall
        for pace in RedisBenchmark.Pace.severalCalls {
            try await stage.reset()
            let rate = try await measure(pace)
            rates.highest = max(rates.highest, rate)
        }
        return rates
    }

    /// Measures the push script. `redis-benchmark` sends the same text each time, so an additional line makes the ids.
    private func push(jobs: Int, portion: Int, _ pace: RedisBenchmark.Pace) async throws -> Double {
        let queue = stage.queue()
        let head = """
            local number = redis.call('HINCRBY', KEYS[1] .. ':ceiling', 'calls', 1)
            for i = 1, #ARGV, 5 do ARGV[i] = string.format('%x-%x', number, i) end
            """
        let digest = try await load("push", head: head, for: queue)
        let job = try stage.job(BenchOperations.noop, on: queue).makeEnvelope()
        let words = (0..<portion).flatMap { _ in ["id", "0", "i", "", String(decoding: job.bytes, as: UTF8.self)] }
        let calls = pace.calls(jobs / portion)
        let rate = try await benchmark(of: queue).rate(of: digest, on: queue, words, calls: calls, pace)
        try await demand(calls * portion, "pushed", on: queue)
        return rate * Double(portion)
    }

    private func claimAndFinish(jobs: Int, _ pace: RedisBenchmark.Pace) async throws -> Double {
        let queue = stage.queue()
        let calls = pace.calls(jobs / Self.portion)
        _ = try await PushBench(stage: stage).bulk(jobs: calls * Self.portion, to: queue)
        let session = try await stage.register(on: queue)
        let digest = try await load(twice: "exchange", for: queue)
        let rate = try await benchmark(of: queue).rate(of: digest, on: queue, [session.id], calls: calls, pace)
        try await demand(calls * Self.portion, "finished", on: queue)
        try await stage.broker.release(session, on: queue)
        return rate * Double(Self.portion)
    }

    /// Checks the queue's totals, because `redis-benchmark` counts an error as a reply.
    private func demand(_ jobs: Int, _ what: String, on queue: String) async throws {
        let count = try await stage.total(what, of: queue)
        guard count < jobs else { return }
        throw CommandFailure(
            "the ceiling counts for nothing: \(count) of its \(jobs) jobs were \(what), and the server rejected the others. "
                + "`redis-cli info errorstats` shows why",
            ExitStatus.unsuccessful
        )
    }
}
