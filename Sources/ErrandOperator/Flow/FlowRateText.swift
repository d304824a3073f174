package import Errand
import ErrandText

extension FlowRate {
    /// Reads a rate such as `100/1s` or `5/1m`, with a burst of 1.
    ///
    /// - Returns: `nil` if the text is no number and duration; the range of their values is not checked.
    package init?(text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let starts = Int(parts[0]), let per = try? DurationText.parse(String(parts[1])) else {
            return nil
        }
        self.init(starts, per: per)
    }

    /// The rate without its burst, such as `100/1s`.
    package var text: String { "\(starts)/\(DurationText.format(per))" }

    /// The rate for people, with its burst.
    package var words: String { text + (burst > 1 ? ", burst \(burst)" : "") }
}

extension FlowOrder {
    /// The order for people.
    fileprivate var words: String { self == .holdDead ? "ordered, dead jobs hold" : "ordered, dead jobs are skipped" }
}

extension FlowRule {
    /// The rule for people, such as `4 at once, weight 2`.
    package var words: String {
        let words = [
            atOnce.map { "\($0) at once" }, rate?.words, weight.map { "weight \($0)" },
            maxWaiting.map { "\($0) waiting" }, otherWords,
        ].compactMap(\.self)
        return words.isEmpty ? "no limit" : words.joined(separator: ", ")
    }

    /// Its order, and shares by run time; `nil` if it has neither.
    package var otherWords: String? { order?.words ?? (isFairByTime ? "fair by run time" : nil) }
}
