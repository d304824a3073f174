import Foundation

/// Waits until a condition holds, polling every few milliseconds.
///
/// Use it only for changes without an event. The error of a test that gives up names the condition.
package func eventually(
    _ what: @autoclosure () -> String,
    within limit: Duration = .seconds(120),
    _ holds: () async throws -> Bool
) async throws {
    let deadline = ContinuousClock.now + limit
    while try await !holds() {
        guard ContinuousClock.now < deadline else {
            throw TestFailure("not within \(limit): \(what())", isOfTime: true)
        }
        try await Task.sleep(for: .milliseconds(20))
    }
}

/// A generator that repeats the numbers of a seed, so that a failed run can be repeated: `ERRAND_SEED=… swift test
/// --filter …`.
package struct SeededRandom: RandomNumberGenerator, Sendable {
    /// The seed.
    package let seed: UInt64
    private var state: UInt64

    /// Makes a generator with the seed of the environment, or a new one, and prints it.
    package init(for test: String) {
        let given = ProcessInfo.processInfo.environment["ERRAND_SEED"].flatMap { UInt64($0) }
        seed = given ?? UInt64.random(in: 0...UInt64(UInt32.max))
        state = seed
        print("\(test): ERRAND_SEED=\(seed)")
    }

    /// Makes a generator with a seed.
    package init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
