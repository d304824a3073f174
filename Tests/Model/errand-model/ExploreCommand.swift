import ArgumentParser
import ErrandModel

/// Every world of the small scope.
struct ExploreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explore",
        abstract: "Visits every state that the small scopes can bring about.",
        discussion: "Example: errand-model explore --quick"
    )

    @Flag(help: "Only the scopes that take seconds.")
    var quick = false
    @Option(help: "Only the scopes whose names contain this.")
    var only = ""
    @Option(help: "Give a scope up after this many states, unless it ends before.")
    var mostStates = 100_000_000
    @Option(help: "How many scopes to explore at once.")
    var together = 2
    @Flag(help: "Print how often each action was taken, and what came about.")
    var table = false

    @Flag(help: "Check that worlds that are taken for the same have the same future. Slow.")
    var checkMerging = false

    func run() async throws {
        let scopes = Exploration.Scope.all.filter { (!quick || $0.isQuick) && (only.isEmpty || $0.name.contains(only)) }
        guard !scopes.isEmpty, together > 0 else { throw ValidationError("There is no such scope.") }
        var isBroken = false
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for (index, scope) in scopes.enumerated() {
                if index >= together, try await group.next() == true { isBroken = true }
                group.addTask { try explore(scope) }
            }
            for try await isOneBroken in group where isOneBroken { isBroken = true }
        }
        if isBroken { throw Found() }
    }

    /// Explores one scope and says what was found. Answers whether it is not as it should be.
    private func explore(_ scope: Exploration.Scope) throws -> Bool {
        let start = ContinuousClock.now
        var exploration = try Exploration(scope, mostStates: mostStates, checksMerging: checkMerging)
        let outcome = exploration.run()
        let took = ContinuousClock.now - start
        var lines = ["explore: \(scope.name): \(extent(of: outcome)) (\(took.inSeconds))"]
        if table { lines += Self.table(of: outcome) }
        if !outcome.missing.isEmpty { lines.append("  never reached: \(outcome.missing.joined(separator: ", "))") }
        if let broken = outcome.broken {
            lines.append("  \(broken)\n  after " + outcome.trail.joined(separator: ", "))
        }
        say(lines.joined(separator: "\n"))
        return outcome.broken != nil || !outcome.missing.isEmpty || !outcome.isComplete
    }

    private func extent(of outcome: Exploration.Outcome) -> String {
        let extent = outcome.isComplete && outcome.broken == nil ? "all" : "the first"
        let counts =
            "\(extent) \(outcome.states) states, \(outcome.transitions) transitions, \(outcome.depth) steps deep"
        return outcome.longestDrain > 0 ? counts + ", drained after \(outcome.longestDrain) at the most" : counts
    }

    private static func table(of outcome: Exploration.Outcome) -> [String] {
        func list(_ names: [String], _ counts: [Int]) -> String {
            zip(names, counts).filter { $1 > 0 }.map { "\($0) \($1)" }.joined(separator: ", ")
        }
        let actions = list(ActionKind.allCases.map { "\($0)" }, outcome.actions)
        let witnesses = list(Witness.allCases.map { "\($0)" }, outcome.witnesses)
        return ["  actions: " + actions, "  came about: " + witnesses]
    }
}
