public import Errand
import Foundation
import Testing

/// Plays the same random transitions on two brokers and compares every answer, every event and every record.
///
/// It finds what no case was written for. A failure names the seed and the step; the same seed plays the same
/// transitions again. Leases are long and due times far, so that nothing depends on how fast the machine is.
public struct BrokerComparison: Sendable {
    let seed: UInt64
    let steps: Int

    /// Makes a comparison; two with the same seed are the same.
    public init(seed: UInt64, steps: Int = 150) {
        self.seed = seed
        self.steps = steps
    }

    /// Plays on both brokers; differences are recorded with the running test.
    public func run(on one: any Broker, and other: any Broker) async throws {
        let stages = [try await Stage(one), try await Stage(other)]
        let players = try await [Player(stages[0], seed: seed), Player(stages[1], seed: seed)]
        for step in 1...steps {
            let answers = [try await players[0].step(), try await players[1].step()]
            guard answers[0] == answers[1] else {
                Issue.record("seed \(seed), step \(step):\n\(Self.difference(answers[0], answers[1]))")
                return
            }
        }
        for stage in stages {
            #expect(try await stage.broker.audit(stage.queue, repair: false) == [])
            await stage.close()
        }
    }
}

extension BrokerComparison {
    /// The lines that differ, with the first line, which says what was done.
    private static func difference(_ one: String, _ other: String) -> String {
        let pairs = zip(one.split(separator: "\n"), other.split(separator: "\n"))
        let different = pairs.filter { $0 != $1 }.map { "\($0)\n\($1)" }
        return (one.split(separator: "\n").prefix(1).map(String.init) + different).joined(separator: "\n")
    }
}

/// A generator of numbers that a seed determines.
struct SeededNumbers: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
