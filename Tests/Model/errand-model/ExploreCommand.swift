import ArgumentParser
import ErrandModel

/// Every world of the small scope.
struct ExploreCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explore",
        abstract: "Visits every state that two workers, three jobs and a few faults can bring about in the model.",
        discussion: "Example: errand-model explore --full"
    )

    @Flag(help: "All kinds of faults together.")
    var full = false
    @Option(help: "Stop a scope after this many states.")
    var mostStates = 60_000
    @Option(help: "How many jobs the producer pushes, up to 3.")
    var jobs = 2
    @Option(help: "How often workers may register in all, until the drain.")
    var registrations = 2

    func run() throws {
        var isBroken = false
        for scope in Exploration.Scope.all(
            isFull: full,
            jobs: jobs,
            registrations: registrations,
            mostStates: mostStates
        ) {
            let start = ContinuousClock.now
            var exploration = Exploration(scope)
            var progress = Progress(scope.name, of: mostStates)
            let outcome = exploration.run { progress.show($0) }
            progress.end()
            let extent = outcome.isComplete ? "all" : "the first"
            let took = (ContinuousClock.now - start).inSeconds
            let counts = "\(extent) \(outcome.states) states, \(outcome.transitions) transitions"
            say("explore: \(scope.name): \(counts), up to \(outcome.deepest) steps deep (\(took))")
            guard let broken = outcome.broken else { continue }
            isBroken = true
            print("  \(broken)\n  after " + outcome.trail.joined(separator: ", "))
        }
        if isBroken { throw Found() }
    }
}
