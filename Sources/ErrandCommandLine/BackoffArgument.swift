package import ArgumentParser
package import Errand
import ErrandText

/// A backoff as an option: `BASE[,LONGEST[,JITTER]]`, such as `5s` or `5s,1h,0.2`. The option's `transform` makes it.
package struct BackoffArgument: Sendable {
    /// The waits before retries.
    package let delays: RetryDelays

    /// Parses an argument. The description that uses the values checks whether they fit together.
    ///
    /// - Throws: `ValidationError` if it is not a backoff.
    package init(parsing argument: String) throws {
        let parts = argument.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard (1...3).contains(parts.count) else { throw Self.refusal }
        let waits = try parts.prefix(2).map { try DurationText.parse($0) }
        var delays = RetryDelays(base: waits.first, longest: waits.dropFirst().first)
        if parts.count > 2 {
            guard let jitter = Double(parts[2]) else { throw Self.refusal }
            delays.jitter = jitter
        }
        self.delays = delays
    }

    private static var refusal: ValidationError {
        ValidationError("write the first wait, the longest wait and the jitter: 5s, or 5s,1h, or 5s,1h,0.2")
    }

    /// The help of an option with a backoff.
    package static let help = ArgumentHelp(
        "How long to wait before the first retry, then twice as long each time: 5s, or with the longest wait and the jitter "
            + "5s,1h,0.2.",
        valueName: "backoff"
    )
}
