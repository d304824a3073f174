import ErrandModel
import Testing

/// What the checks of the model find in their small profiles; `errand-model` goes on for longer.
@Suite("The model keeps its promises")
struct SimulationTests {
    @Test("in every world of a small scope", .timeLimit(.minutes(5)))
    func exploration() {
        for scope in Exploration.Scope.all(isFull: false, jobs: 2, registrations: 2, mostStates: 800) {
            var exploration = Exploration(scope)
            let outcome = exploration.run()
            #expect(outcome.broken == nil, "errand-model explore: \(scope.name) after \(outcome.trail)")
        }
    }

    @Test("under faults, and drains when they stop", .timeLimit(.minutes(5)), arguments: UInt64(1)...20)
    func simulation(seed: UInt64) throws {
        var simulation = Simulation(seed: seed)
        let outcome = try simulation.run()
        #expect(outcome.broken == nil, "errand-model simulate --seed \(seed)")
    }
}
