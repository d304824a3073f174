import Errand
import ErrandCommandLine
import ErrandRedis
import Foundation

/// What the server alone can do: `redis-benchmark` of the same scripts, in the same run.
struct CeilingBench {
    let stage: BenchStage

    /// Jobs a call of the batches.
    private static let portion = 50

    /// The push script with so many jobs a call, each of a new id: jobs a second.
    ///
    /// `redis-benchmark` sends the same text again and again, so a line in front of the script makes the ids.
    func push(jobs: Int, portion: Int) async throws -> Double {
        let queue = stage.queue()
        let head = """
            local number = redis.call('HINCRBY', KEYS[1] .. ':ceiling', 'calls', 1)
            for i = 1, #ARGV, 5 do ARGV[i] = string.format('%x-%x', number, i) end
            """
        let digest = try await load("push", head: head)
        let job = try stage.job(BenchOperations.noop, on: queue).settled()
        let words = (0..<portion).flatMap { _ in ["id", "0", "i", "", String(decoding: job.bytes, as: UTF8.self)] }
        return try measure(digest, queue, calls: max(1, jobs / portion), words: words, portion: portion)
    }

    /// One script that runs the claim's body and then the finish's body for 50 jobs: jobs a second.
    func claimAndFinish(jobs: Int) async throws -> Double {
        let queue = stage.queue()
        _ = try await PushBench(stage: stage).bulk(jobs: jobs, to: queue)
        let session = Session(
            id: "ceiling\(ProcessInfo.processInfo.processIdentifier)",
            host: "ceiling",
            pid: 1,
            concurrency: 1,
            queues: [queue],
            lease: .seconds(3600),
            operations: [BenchOperations.noop: OperationDefaults()]
        )
        try await stage.broker.register(session, on: queue)
        let rate = try measure(
            try await load(twice: "exchange"),
            queue,
            calls: jobs / Self.portion,
            words: [session.id],
            portion: Self.portion
        )
        let finished = try await stage.broker.status(of: queue).queue.totals["finished"]
        try await stage.broker.release(session, on: queue)
        // `redis-benchmark` counts an error as an answer.
        guard finished > jobs - Self.portion else {
            throw CommandFailure("the ceiling finished \(finished) of \(jobs) jobs", ExitStatus.unsuccessful)
        }
        return rate
    }

    private func text(of script: String) -> ArraySlice<UInt8> {
        let text = Script.all.first { $0.name == script }?.text ?? []
        return text.drop { $0 != UInt8(ascii: "\n") }
    }

    private func load(_ script: String, head: String) async throws -> String {
        try await stage.broker.load(Array(("#!lua\n" + head).utf8) + text(of: script))
    }

    /// The exchange script twice in one: once to claim, once to report what was claimed.
    private func load(twice script: String) async throws -> String {
        let both = """

            end
            local number = redis.call('HINCRBY', KEYS[1] .. ':ceiling', 'calls', 2)
            local got = exchange(KEYS, { ARGV[1], tostring(number), '50', '8', '0', '7500', '17500', '8388608', '0' })
            local jobs = #got[3]
            local report = { ARGV[1], tostring(number + 1), '0', '0', '0', '7500', '17500', '8388608', jobs > 0 and '1' or '0' }
            report[10], report[11], report[12], report[13] = tostring(jobs), got[2], '"operation":"noop","name":null', '1'
            for i, id in ipairs(got[3]) do
              report[13 + i] = id
              report[13 + jobs + i] = '0'
            end
            return exchange(KEYS, report)
            """
        return try await stage.broker.load(
            Array("#!lua flags=allow-oom\nlocal function exchange(KEYS, ARGV)\n".utf8) + text(of: script)
                + Array(both.utf8)
        )
    }

    /// Whether the server can be measured alone.
    var isPossible: Bool { stage.broker.address.redisBenchmarkArguments != nil }

    private func measure(_ digest: String, _ queue: String, calls: Int, words: [String], portion: Int) throws -> Double
    {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments =
            ["redis-benchmark"] + (stage.broker.address.redisBenchmarkArguments ?? [])
            + ["-c", "1", "-P", "1", "-n", String(calls), "--csv", "EVALSHA", digest, "1", KeySpace.key(of: queue)]
            + words
        process.environment = ProcessInfo.processInfo.environment.withoutBrokerURLs
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        // The last line ends in requests a second and six latencies; the command before them may hold anything.
        let fields = String(decoding: data, as: UTF8.self).split(separator: "\",\"").suffix(7)
        guard process.terminationStatus == 0, fields.count == 7, let rate = fields.first.flatMap({ Double($0) }) else {
            throw CommandFailure(
                "redis-benchmark failed; it is in Debian's package redis-tools",
                ExitStatus.unavailable
            )
        }
        return rate * Double(portion)
    }
}
