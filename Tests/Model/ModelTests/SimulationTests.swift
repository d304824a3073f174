import ErrandModel
import Testing

/// What the checks of the queue find in their small profiles; `errand-model` goes on for longer.
@Suite("The queue keeps its promises")
struct SimulationTests {
    @Test("in every world of a small scope", .timeLimit(.minutes(5)))
    func exploration() throws {
        let name = "2 workers, 2 ids in order, 1 cancel, 1 revival"
        let scope = try #require(Exploration.Scope.all.first { $0.name == name })
        var exploration = try Exploration(scope, mostStates: 1_000_000, checksMerging: true)
        let outcome = exploration.run()
        #expect(outcome.isComplete)
        #expect(outcome.broken == nil, "errand-model explore --only '\(name)' after \(outcome.trail)")
        #expect(outcome.missing.isEmpty)
    }

    @Test("under faults, and drains when they stop", .timeLimit(.minutes(5)), arguments: UInt64(1)...20)
    func simulation(seed: UInt64) throws {
        var simulation = Simulation(seed: seed)
        let outcome = try simulation.run()
        #expect(outcome.broken == nil, "errand-model simulate --seed \(seed)")
    }
}
