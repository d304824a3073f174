import ArgumentParser
import ErrandModel

/// Random histories on the model and on the in-memory broker.
struct MemoryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "memory",
        abstract: "Plays random histories on the model and on the in-memory broker.",
        discussion: "Example: errand-model memory --seed 4711"
    )

    @OptionGroup var seeds: SeedOptions

    func run() async throws {
        if let seed = seeds.seed { return try await replay(seed) }
        let start = ContinuousClock.now
        let failed = try await firstFailure()
        if let failed { return try await replay(failed) }
        print("memory: \(seeds.histories) histories of \(seeds.steps) steps agree with the model", terminator: " ")
        print("(\((ContinuousClock.now - start).inSeconds))")
    }

    private func firstFailure() async throws -> UInt64? {
        let portion = 500
        var progress = Progress("histories", of: seeds.histories)
        defer { progress.end() }
        return try await withThrowingTaskGroup(of: UInt64?.self) { group in
            var next = 0
            var done = 0
            func start() {
                guard next < seeds.histories else { return }
                let first = seeds.firstSeed + UInt64(next)
                let count = min(portion, seeds.histories - next)
                let steps = seeds.steps
                group.addTask { try Self.firstFailure(from: first, count, steps) }
                next += count
            }
            for _ in 0..<4 { start() }
            for try await failed in group {
                if let failed { return failed }
                done += portion
                progress.show(min(done, seeds.histories))
                start()
            }
            return nil
        }
    }

    private static func firstFailure(from first: UInt64, _ count: Int, _ steps: Int) throws -> UInt64? {
        var comparison = MemoryComparison()
        return try (first..<first + UInt64(count)).first { seed in
            try comparison.fault(in: HistoryMaker.history(seed: seed, steps: steps)) != nil
        }
    }

    private func replay(_ seed: UInt64) async throws {
        let history = HistoryMaker.history(seed: seed, steps: seeds.steps)
        try await Replay(command: "errand-model memory --seed \(seed) --steps \(seeds.steps)").run(history) { history in
            var comparison = MemoryComparison()
            return try comparison.fault(in: history)
        }
    }
}

/// Shows one history, and what is left of it when every step is left out that is not needed for it to fail.
struct Replay {
    let command: String

    func run(_ history: History, _ fault: (History) async throws -> Fault?) async throws {
        guard let found = try await fault(history) else { return print("\(command): agrees") }
        print("step \(found.step) \(found.what)\n\nreplay: \(command)\n\nshrunk:")
        let short = try await history.shrunk { try await fault($0) != nil }
        print(short.listing)
        if let last = try await fault(short) { print("step \(last.step) \(last.what)") }
        throw Found()
    }
}
