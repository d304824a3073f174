package import ArgumentParser
package import Errand
import ErrandText

/// A backoff as an option: `BASE[,LONGEST[,JITTER]]`, such as `5s` or `5s,1h,0.2`.
package struct BackoffArgument: ExpressibleByArgument, Sendable {
    /// The waits before retries.
    package let delays: RetryDelays

    /// Parses an argument; `nil` if it is invalid. The description that uses the values checks whether they fit
    /// together.
    package init?(argument: String) {
        let parts = argument.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        guard (1...3).contains(parts.count), let waits = try? parts.prefix(2).map({ try DurationText.parse($0) }) else {
            return nil
        }
        var delays = RetryDelays(base: waits.first, longest: waits.dropFirst().first)
        if parts.count > 2 {
            guard let jitter = Double(parts[2]) else { return nil }
            delays.jitter = jitter
        }
        self.delays = delays
    }

    /// The help of an option with a backoff.
    package static let help = ArgumentHelp(
        "How long to wait before the first retry, then twice as long each time: 5s, or with the longest wait and the jitter "
            + "5s,1h,0.2.",
        valueName: "backoff"
    )
}
