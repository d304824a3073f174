import ErrandCommandLine
import ErrandRedis
import Foundation

/// A `redis-benchmark` process, which measures how often per second the server runs a script.
struct RedisBenchmark {
    let address: RedisAddress

    /// The number of calls in flight.
    struct Pace: Sendable {
        let connections: Int
        /// The number of calls that a connection sends before it waits for a reply.
        let ahead: Int

        static let oneCall = Pace(connections: 1, ahead: 1)
        static let severalCalls = [Pace(connections: 2, ahead: 1), Pace(connections: 1, ahead: 4)]

        /// Rounds the wanted number of calls to whole pipelines, as the program sends them.
        func calls(_ wanted: Int) -> Int { max(1, wanted / ahead) * ahead }
    }

    /// Calls a loaded script for a queue, always with the same arguments; returns the calls per second.
    func rate(of digest: String, on queue: String, _ words: [String], calls: Int, _ pace: Pace) throws -> Double {
        let settings = ["-c", String(pace.connections), "-P", String(pace.ahead), "-n", String(calls), "--csv"]
        let command =
            ["EVALSHA", digest, "2", KeySpace.key(of: queue), KeySpace.key(of: queue) + KeySpace.gate] + words
        let output = try run((address.redisBenchmarkArguments ?? []) + settings + command)
        // The last line ends with the requests per second and six latencies; the command before them may contain
        // anything.
        let fields = String(decoding: output, as: UTF8.self).split(separator: "\",\"").suffix(7)
        guard fields.count == 7, let rate = fields.first.flatMap({ Double($0) }) else { throw Self.failure(output) }
        return rate
    }

    private func run(_ arguments: [String]) throws -> Data {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["redis-benchmark"] + arguments
        process.environment = ProcessInfo.processInfo.environment.withoutSecrets
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        let complaint = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus != Self.notFound else { throw Self.missing }
        guard process.terminationStatus == 0 else { throw Self.failure(complaint.isEmpty ? data : complaint) }
        return data
    }

    /// The exit status of `env` if the program does not exist.
    private static let notFound: Int32 = 127

    private static var missing: CommandFailure {
        CommandFailure("there is no redis-benchmark; it is in Debian's package redis-tools", ExitStatus.unavailable)
    }

    /// Makes a failure from the output. The program exits when the server returns an error, which is in its last line.
    private static func failure(_ said: Data) -> CommandFailure {
        let line =
            String(decoding: said, as: UTF8.self).split(whereSeparator: \.isNewline).last ?? "it gives no reason"
        return CommandFailure(
            "the ceiling counts for nothing, redis-benchmark failed: \(line)",
            ExitStatus.unsuccessful
        )
    }
}
