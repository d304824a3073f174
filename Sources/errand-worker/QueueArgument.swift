import ArgumentParser
import Errand

/// An argument `QUEUE` or `QUEUE:WEIGHT`.
struct QueueArgument: ExpressibleByArgument {
    let name: String
    let weight: Int

    init?(argument: String) {
        let parts = argument.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        name = String(parts[0])
        guard QueueName.isValid(name) else { return nil }
        guard parts.count == 2 else {
            weight = 1
            return
        }
        guard let number = Int(parts[1]), (1...1000).contains(number) else { return nil }
        weight = number
    }
}
