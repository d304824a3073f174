import ArgumentParser
import Errand
import ErrandOperator

/// Counts the outcomes of an input's lines.
struct LinesTally {
    private var outcomes: [Receipt.Outcome: Int] = [:]
    private var refused = 0
    private var left = 0
    /// The reason why the first of the remaining lines was not accepted.
    private var firstFailure: CommandFailure?

    /// The number of lines with a receipt.
    var pushed: Int { outcomes.values.reduce(0, +) }

    /// Whether there were no lines yet.
    var isEmpty: Bool { outcomes.isEmpty && left == 0 && refused == 0 }

    /// Whether the broker's reply was lost for a line.
    var hasUnknown: Bool { outcomes[.unknown] != nil }

    mutating func count(_ receipt: Receipt) { outcomes[receipt.outcome, default: 0] += 1 }

    /// Counts a line that is not a valid description.
    mutating func reject() { refused += 1 }

    /// Counts lines that the broker did not accept.
    mutating func notAccepted(_ count: Int, _ failure: CommandFailure) {
        left += count
        firstFailure = firstFailure ?? failure
    }

    /// The counts, for people.
    var summary: String {
        let counts = Receipt.Outcome.allCases.compactMap { outcome in
            outcomes[outcome].map { "\($0) \(outcome.rawValue)" }
        }
        let words = counts + (left > 0 ? ["\(left) not pushed"] : []) + (refused > 0 ? ["\(refused) rejected"] : [])
        return isEmpty ? "no jobs in the input" : words.joined(separator: ", ")
    }

    /// The reason why the command is incomplete, the strongest first; `nil` if it is complete.
    ///
    /// - Parameter hasReceipts: Whether the receipts were written, instead of the ids of unconfirmed lines.
    func failure(hasReceipts: Bool) -> CommandFailure? {
        if let count = outcomes[.unknown] {
            let ids = hasReceipts ? "of the receipts whose outcome is \"unknown\"" : "listed above"
            // Stronger than "a line was rejected", which means that all others were pushed.
            return CommandFailure(
                "the broker did not confirm \(count.counted("job")): they may or may not have been accepted. "
                    + "Push them again within a minute, with the ids \(ids): that adds no second job",
                ExitStatus.unknown
            )
        }
        if let firstFailure {
            return CommandFailure(
                "\(left.counted("line")) not pushed; the warnings above name them. The first reason: \(firstFailure.message)",
                firstFailure.status
            )
        }
        if refused > 0 {
            let rest = pushed > 0 ? "the rest was pushed" : "nothing was pushed"
            return CommandFailure("\(refused.counted("line")) rejected; \(rest)", ExitStatus.badInput)
        }
        return nil
    }
}

/// Line numbers as text: `line 3`, `lines 501 to 1000`, `lines 3, 7 to 9 and 12`.
struct LineRanges: CustomStringConvertible {
    private static let most = 10
    private var ranges: [ClosedRange<Int>] = []

    /// Makes ranges from numbers in ascending order.
    init(_ numbers: [Int]) {
        for number in numbers {
            if let last = ranges.last, last.upperBound + 1 == number {
                ranges[ranges.count - 1] = last.lowerBound...number
            } else {
                ranges.append(number...number)
            }
        }
    }

    var description: String {
        var words = ranges.prefix(Self.most).map { range in
            range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
        }
        let rest = ranges.dropFirst(Self.most).reduce(0) { $0 + $1.count }
        if rest > 0 { words.append("\(rest) more") }
        let isOne = ranges.count == 1 && ranges.first?.count == 1
        let last = words.popLast() ?? ""
        return (isOne ? "line " : "lines ") + (words.isEmpty ? last : words.joined(separator: ", ") + " and " + last)
    }
}
