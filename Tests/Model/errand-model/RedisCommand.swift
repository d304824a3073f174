import ArgumentParser
import ErrandModel
import TestSupport

/// Random histories on the queue in memory and on the real scripts.
struct RedisCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "redis",
        abstract:
            "Plays random histories on the queue in memory and on the real scripts, on a redis-server of its own.",
        discussion: "Example: errand-model redis --seed 4711"
    )

    @OptionGroup var seeds: SeedOptions
    @Flag(help: "Keep tombstones in short lines too.")
    var tombstones = false
    @Option(help: "The script to change on purpose; * for all.")
    var mutate: String?
    @Option(help: "The text to change.")
    var old = ""
    @Option(help: "What to put in its place.")
    var new = ""

    func run() async throws {
        let server = try RedisServer()
        let mutations = mutate.map { [TestScripts.Mutation(script: $0, old: old, new: new)] } ?? []
        let overrides = try TestScripts.make(tombstones: tombstones, mutations: mutations)
        let comparison = try await RedisComparison(on: server, overrides, keepsTombstones: tombstones)
        defer { comparison.close() }
        if let seed = seeds.seed { return try await replay(seed, comparison) }
        try await checkWrongTypes(comparison, on: server, mutations)
        let start = ContinuousClock.now
        if let failed = try await firstFailure(comparison) { return try await replay(failed, comparison) }
        let kind = tombstones ? "redis with tombstones" : "redis"
        print("\(kind): \(seeds.histories) histories of \(seeds.steps) steps agree with memory", terminator: " ")
        print("(\((ContinuousClock.now - start).inSeconds))")
    }

    private func checkWrongTypes(
        _ comparison: RedisComparison,
        on server: RedisServer,
        _ mutations: [TestScripts.Mutation]
    ) async throws {
        var fault = try await comparison.faultOfWrongTypes(queue: 8_000_002)
        if fault == nil {
            fault = try await RedisComparison.faultOfUncheckedPromotion(on: server, mutations: mutations)
        }
        guard let fault else { return }
        say("\(fault)\n\nreplay: errand-model redis --histories 0")
        throw Found()
    }

    private var style: HistoryMaker.Style {
        var style = HistoryMaker.Style()
        style.looksAtOne = true
        style.isPlain = tombstones
        return style
    }

    private func firstFailure(_ comparison: RedisComparison) async throws -> UInt64? {
        var progress = Progress("histories", of: seeds.histories)
        defer { progress.end() }
        return try await withThrowingTaskGroup(of: UInt64?.self) { group in
            var next = 0
            func start() {
                guard next < seeds.histories else { return }
                let seed = seeds.firstSeed + UInt64(next)
                let (number, steps, style) = (next, seeds.steps, style)
                group.addTask {
                    let history = try HistoryMaker.history(seed: seed, steps: steps, style)
                    return try await comparison.fault(in: history, queue: number % 1_000_000) == nil ? nil : seed
                }
                next += 1
            }
            // Several at once, so that the server never waits for this process.
            for _ in 0..<16 { start() }
            var done = 0
            for try await failed in group {
                if let failed {
                    group.cancelAll()
                    return failed
                }
                done += 1
                progress.show(done)
                start()
            }
            return nil
        }
    }

    private func replay(_ seed: UInt64, _ comparison: RedisComparison) async throws {
        let history = try HistoryMaker.history(seed: seed, steps: seeds.steps, style)
        var command = "errand-model redis --seed \(seed) --steps \(seeds.steps)" + (tombstones ? " --tombstones" : "")
        if let mutate { command += " --mutate '\(mutate)' --old '\(old)' --new '\(new)'" }
        try await Replay(command: command).run(history) { history in
            try await comparison.fault(in: history, queue: 8_000_001)
        }
    }
}
