import ArgumentParser
import ErrandText

/// A duration as an option: `250ms`, `10s`, `5m`, `2h`, `1d`.
package struct DurationArgument: ExpressibleByArgument, Sendable {
    /// The duration.
    package let duration: Duration

    /// Makes an argument from a duration.
    package init(_ duration: Duration) { self.duration = duration }

    /// Parses an argument; `nil` if it is invalid.
    package init?(argument: String) {
        guard let duration = try? DurationText.parse(argument) else { return nil }
        self.duration = duration
    }

    /// The text in help.
    package var defaultValueDescription: String { DurationText.format(duration) }
}
