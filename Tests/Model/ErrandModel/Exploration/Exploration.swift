/// Visits every world that can come about within a scope, and judges each step, and from each world whether it drains.
package struct Exploration {
    /// What is explored.
    package struct Scope: Sendable {
        package var name: String
        package var pushes: [Push]
        package var faults: World.Faults
        package var mostStates: Int
    }

    /// What was found.
    package struct Outcome: Sendable {
        package var states = 0
        package var transitions = 0
        package var deepest = 0
        /// Whether everything was visited, or only so many.
        package var isComplete = true
        package var broken: String?
        /// How the broken world came about.
        package var trail: [String] = []
    }

    private struct Frame {
        let world: World
        let actions: [Action]
        var next = 0
    }

    private static let mostRounds = 40

    private let scope: Scope
    private var visited: Set<Fingerprint> = []
    private var draining: Set<Fingerprint> = []
    private var outcome = Outcome()

    package init(_ scope: Scope) { self.scope = scope }

    /// Explores depth first, so that only one way is kept in memory at a time.
    package mutating func run(onProgress: (Int) -> Void = { _ in }) -> Outcome {
        let start = World(scope.pushes, scope.faults)
        visited.insert(start.fingerprint)
        outcome.states = 1
        var way = [Frame(world: start, actions: start.actions)]
        while let frame = way.last {
            guard frame.next < frame.actions.count else {
                way.removeLast()
                continue
            }
            way[way.count - 1].next += 1
            var world = frame.world
            let action = frame.actions[frame.next]
            outcome.transitions += 1
            let broken = world.perform(action)
            if broken == nil, !visited.insert(world.fingerprint).inserted { continue }
            outcome.states += 1
            if let broken = broken ?? undrained(world) {
                outcome.broken = broken
                outcome.trail = way.map { "\($0.actions[$0.next - 1])" }
                return outcome
            }
            if outcome.states >= scope.mostStates {
                outcome.isComplete = false
                return outcome
            }
            if outcome.states % 4096 == 0 { onProgress(outcome.states) }
            way.append(Frame(world: world, actions: world.actions))
            outcome.deepest = max(outcome.deepest, way.count)
        }
        return outcome
    }

    /// Liveness: without further faults, a world ends with nothing left, within bounded time.
    private mutating func undrained(_ world: World) -> String? {
        var world = world
        var passed: [Fingerprint] = []
        for _ in 0..<Self.mostRounds {
            world.faults = World.Faults()
            let fingerprint = world.fingerprint
            if world.isDrained || draining.contains(fingerprint) {
                draining.formUnion(passed)
                return nil
            }
            passed.append(fingerprint)
            if let broken = world.playFairRound() { return "while draining: \(broken)" }
        }
        return "L1: not drained after \(Self.mostRounds) fair rounds: \(world.queue.jobs)"
    }
}

extension Exploration.Scope {
    /// The programs of the producer: which three jobs it pushes, in this order.
    private static var programs: [(String, [Push])] {
        func push(_ id: JobID, _ policy: Policy, due: Time = 0, retries: Int = 0) -> Push {
            var push = Push(id: id)
            push.policy = policy
            push.name = policy == .ignore ? nil : 0
            push.due = due
            push.retries = retries
            return push
        }
        let soon = 1_000_000 + World.tick
        return [
            ("drop, replace, ignore", [push(0, .drop, retries: 1), push(1, .replace), push(2, .ignore)]),
            ("replace, replace, drop", [push(0, .replace), push(1, .replace, due: soon), push(2, .drop)]),
            (
                "ignore, retried, due later",
                [push(0, .ignore), push(1, .ignore, retries: 1), push(2, .drop, due: soon)]
            ),
        ]
    }

    /// The scopes to explore.
    ///
    /// - Parameters:
    ///   - isFull: Whether all faults of the small scope may happen together, or only one kind at a time.
    ///   - jobs: How many of its three jobs the producer pushes.
    ///   - registrations: How often workers may register in all.
    ///   - mostStates: After how many states a scope is given up.
    package static func all(isFull: Bool, jobs: Int, registrations: Int, mostStates: Int) -> [Self] {
        typealias Kind = (String, WritableKeyPath<World.Faults, Int>, Int)
        let kinds: [Kind] = [
            ("lost answers", \.lost, 2), ("crash", \.crashes, 1), ("pause", \.pauses, 1), ("rollback", \.rollbacks, 1),
            ("cancel", \.cancels, 1),
        ]
        return programs.flatMap { program in
            if isFull {
                var faults = World.Faults()
                for kind in kinds { faults[keyPath: kind.1] = kind.2 }
                faults.restarts = 1
                faults.registrations = registrations
                return [
                    Self(
                        name: "\(program.0); all faults",
                        pushes: Array(program.1.prefix(jobs)),
                        faults: faults,
                        mostStates: mostStates
                    )
                ]
            }
            return kinds.map { kind in
                var faults = World.Faults()
                faults[keyPath: kind.1] = min(kind.2, 1)
                faults.registrations = registrations
                return Self(
                    name: "\(program.0); \(kind.0)",
                    pushes: Array(program.1.prefix(jobs)),
                    faults: faults,
                    mostStates: mostStates
                )
            }
        }
    }
}
