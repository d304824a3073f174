import ArgumentParser
import Errand

/// An argument `QUEUE` or `QUEUE:WEIGHT`.
struct QueueArgument: Sendable {
    let name: String
    let weight: Int

    /// Parses an argument.
    ///
    /// - Throws: `ValidationError` if it is neither.
    init(parsing argument: String) throws {
        let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        name = String(parts[0])
        let weight = parts.count == 2 ? Int(parts[1]) : 1
        guard QueueName.isValid(name), let weight, (1...1000).contains(weight) else {
            throw ValidationError(
                "\"\(argument)\" is not a queue: write files, or files:3 with a weight of 1 to 1000"
            )
        }
        self.weight = weight
    }
}
