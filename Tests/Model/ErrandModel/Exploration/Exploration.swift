/// Visits every world that can come about within a scope, and judges each step; in the end, whether every one of them
/// drains. It goes breadth first until a level has more worlds than fit in memory many times; then a portion of the level
/// after the other, with all that follows from it.
package struct Exploration {
    /// What was found.
    package struct Outcome: Sendable {
        package var states = 0
        package var transitions = 0
        /// The longest of the ways by which states were reached, in steps.
        package var depth = 0
        /// The most steps that a fair continuation needs until nothing is left.
        package var longestDrain = 0
        /// Whether everything was visited, or only so many.
        package var isComplete = true
        /// How often each kind of action was taken, and each thing came about.
        package var actions = [Int](repeating: 0, count: ActionKind.allCases.count)
        package var witnesses = [Int](repeating: 0, count: Witness.allCases.count)
        /// What should have come about, and never did.
        package var missing: [String] = []
        package var broken: String?
        /// How the broken world came about: in the fewest steps, if levels are small.
        package var trail: [String] = []
    }

    private struct Node {
        let number: Int
        let world: World
    }

    /// Worlds that are equally many steps from the start.
    private struct Portion {
        let depth: Int
        let nodes: [Node]

        static let size = 50_000
    }

    private static let none = UInt32.max
    private static let drained = UInt32.max - 1

    private let scope: Scope
    private let start: World
    private let mostStates: Int
    /// Every state's first world, when it is checked that others of the same fingerprint have the same future.
    private var firstWorlds: [World]?
    private var table = StateTable()
    /// The state from which each state was first reached, and by which of its actions.
    private var parents: [UInt32] = []
    private var choices: [UInt8] = []
    /// Where the fair continuation of each state goes on.
    private var fairNext: [UInt32] = []
    private var outcome = Outcome()

    /// - Parameters:
    ///   - mostStates: When to give up.
    ///   - checksMerging: Whether to check that worlds of the same fingerprint go on to the same fingerprints. Slow, and keeps
    ///     every world in memory.
    package init(_ scope: Scope, mostStates: Int, checksMerging: Bool = false) throws {
        start = try World(scope)
        self.scope = scope
        self.mostStates = mostStates
        firstWorlds = checksMerging ? [] : nil
    }

    package mutating func run(onProgress: (Int) -> Void = { _ in }) -> Outcome {
        _ = table.insert(start.fingerprint)
        add(start, from: 0, by: 0)
        var portions = [Portion(depth: 0, nodes: [Node(number: 0, world: start)])]
        while outcome.broken == nil, outcome.isComplete, let portion = portions.popLast() {
            outcome.depth = max(outcome.depth, portion.depth)
            let next = expand(portion)
            for first in stride(from: 0, to: next.count, by: Portion.size) {
                let nodes = Array(next[first..<min(first + Portion.size, next.count)])
                portions.append(Portion(depth: portion.depth + 1, nodes: nodes))
            }
            onProgress(table.count)
        }
        outcome.states = table.count
        if outcome.broken == nil, outcome.isComplete {
            judgeDraining()
            nameWhatIsMissing()
        }
        return outcome
    }

    /// Returns the new worlds that are one step further.
    private mutating func expand(_ portion: Portion) -> [Node] {
        var next: [Node] = []
        for node in portion.nodes {
            expand(node, &next)
            if outcome.broken != nil || !outcome.isComplete { break }
        }
        return next
    }

    private mutating func add(_ world: World, from parent: Int, by choice: Int) {
        firstWorlds?.append(world)
        parents.append(UInt32(truncatingIfNeeded: parent))
        choices.append(UInt8(truncatingIfNeeded: choice))
        fairNext.append(Self.none)
    }

    private mutating func expand(_ node: Node, _ next: inout [Node]) {
        let actions = node.world.actions
        let fair = node.world.fairAction
        if fair == nil { fairNext[node.number] = Self.drained }
        for (choice, action) in actions.enumerated() {
            var world = node.world
            outcome.transitions += 1
            let broken = world.perform(action)
            outcome.actions[action.kind.rawValue] += 1
            world.witnesses.count(in: &outcome.witnesses)
            if let broken { return report(broken, after: node.number, then: choice) }
            let (number, isNew) = table.insert(world.fingerprint)
            if action == fair { fairNext[node.number] = UInt32(truncatingIfNeeded: number) }
            guard isNew else {
                if let first = firstWorlds?[number], first.successors != world.successors {
                    return report("a world was taken for another", after: node.number, then: choice)
                }
                continue
            }
            add(world, from: node.number, by: choice)
            next.append(Node(number: number, world: world))
            if table.count >= mostStates { return outcome.isComplete = false }
        }
        if fairNext[node.number] == Self.none { report("the fair action is not among the actions", after: node.number) }
    }

    /// Liveness: without further faults, every state ends with nothing left: none goes round in a circle.
    private mutating func judgeDraining() {
        let unknown: Int32 = -1
        let onTheWay: Int32 = -2
        var steps = [Int32](repeating: unknown, count: table.count)
        var way: [Int] = []
        for start in 0..<table.count {
            var state = start
            while steps[state] == unknown, fairNext[state] != Self.drained {
                steps[state] = onTheWay
                way.append(state)
                state = Int(fairNext[state])
            }
            if steps[state] == onTheWay { return reportCircle(from: start) }
            steps[state] = max(steps[state], 0)
            var distance = steps[state]
            while let passed = way.popLast() {
                distance += 1
                steps[passed] = distance
            }
            outcome.longestDrain = max(outcome.longestDrain, Int(distance))
        }
    }

    /// Tells the way to a state, and the circle that its fair continuation ends in.
    private mutating func reportCircle(from start: Int) {
        report("L1: does not drain", after: start)
        outcome.trail.append("then, without faults")
        var passed: Set<Int> = []
        var state = start
        while passed.insert(state).inserted {
            if let action = way(to: state).last?.fairAction { outcome.trail.append("\(action)") }
            state = Int(fairNext[state])
        }
        outcome.trail.append("and so on")
    }

    private mutating func report(_ broken: String, after state: Int, then choice: Int? = nil) {
        outcome.broken = broken
        let worlds = way(to: state)
        outcome.trail = zip(worlds, picks(to: state)).map { "\($0.actions[$1])" }
        if let choice, let last = worlds.last { outcome.trail.append("\(last.actions[choice])") }
    }

    private func picks(to state: Int) -> [Int] {
        var picks: [Int] = []
        var state = state
        while state != 0 {
            picks.append(Int(choices[state]))
            state = Int(parents[state])
        }
        return picks.reversed()
    }

    /// The worlds from the first to a state.
    private func way(to state: Int) -> [World] {
        var worlds = [start]
        for pick in picks(to: state) {
            var world = worlds[worlds.count - 1]
            _ = world.perform(world.actions[pick])
            worlds.append(world)
        }
        return worlds
    }

    private mutating func nameWhatIsMissing() {
        let actions = scope.mustTake.filter { outcome.actions[$0.rawValue] == 0 }
        let witnesses = scope.mustReach.filter { outcome.witnesses[$0.rawValue] == 0 }
        outcome.missing = actions.map { "\($0)" } + witnesses.map { "\($0)" }
    }
}

extension World {
    /// What may come next, apart from nothing.
    fileprivate var successors: Set<Fingerprint> {
        let all = actions.map { action in
            var world = self
            _ = world.perform(action)
            return world.fingerprint
        }
        return Set(all).subtracting([fingerprint])
    }
}
