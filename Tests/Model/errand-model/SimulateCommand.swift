import ArgumentParser
import ErrandModel

/// Workers, producers, faults and the broker in virtual time.
struct SimulateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "simulate",
        abstract: "Simulates workers, producers, a bad network and a broker in virtual time.",
        discussion: "Example: errand-model simulate --seed 4711"
    )

    /// What must have happened at least once in a full run.
    private static let musts = [
        "recovered", "released", "dead", "overdue taken", "quarantine", "successor promoted", "stale report refused",
        "grace granted", "suspect served alone", "resend answered", "older call refused", "session lost", "rollback",
        "clock jump", "push exists", "dropped", "stopped as told", "waited too long", "crash", "pause", "outage",
        "dispatched", "dispatch arrived in time", "dispatch arrived late", "claims compared", "claim was lost",
        "group full", "group rested", "group waited for its job", "group waited for a dead job", "queue held back",
        "refused by a full group", "rule changed", "expired",
        "workflow pushed", "workflow dropped", "workflow replaced", "workflow stopped", "workflow finished",
        "workflow failed", "workflow cancelled", "workflow waited for a dead job", "skipped", "added by a running job",
        "addition refused",
    ]

    @Option(help: "How many seeds.")
    var seeds = 1000
    @Option(help: "The first seed; the others follow it.")
    var firstSeed: UInt64 = 1
    @Option(help: "Replay this seed alone.")
    var seed: UInt64?

    func run() async throws {
        let start = ContinuousClock.now
        var progress = Progress("seeds", of: seeds)
        var sometimes: [String: Int] = [:]
        var (actions, done, slowest) = (0, 0, Int64(0))
        let (first, count) = seed.map { ($0, 1) } ?? (firstSeed, seeds)
        try await withThrowingTaskGroup(of: [(UInt64, Simulation.Outcome)].self) { group in
            var next = 0
            func add() {
                guard next < count else { return }
                let from = first + UInt64(next)
                let portion = UInt64(min(25, count - next))
                next += Int(portion)
                group.addTask {
                    try (from..<from + portion).map { seed in
                        var simulation = Simulation(seed: seed)
                        return (seed, try simulation.run())
                    }
                }
            }
            for _ in 0..<4 { add() }
            for try await outcomes in group {
                for (seed, outcome) in outcomes {
                    if let broken = outcome.broken {
                        say("seed \(seed): \(broken)\n\nreplay: errand-model simulate --seed \(seed)")
                        throw Found()
                    }
                    actions += outcome.actions
                    slowest = max(slowest, outcome.drainedAfter)
                    sometimes.merge(outcome.sometimes, uniquingKeysWith: +)
                }
                done += outcomes.count
                progress.show(done)
                add()
            }
        }
        progress.end()
        let took = (ContinuousClock.now - start).inSeconds
        say("simulate: \(count) seeds, \(actions) transitions, all drained, the slowest after \(slowest) ms (\(took))")
        say(sometimes.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value)" }.joined(separator: "\n"))
        let missing = Self.musts.filter { sometimes[$0] == nil }
        if count >= 500, !missing.isEmpty {
            say("never happened: \(missing.joined(separator: ", "))")
            throw Found()
        }
    }
}
