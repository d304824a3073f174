import ArgumentParser
import ErrandText

/// A duration as an option takes it: `250ms`, `10s`, `5m`, `2h`, `1d`.
package struct DurationArgument: ExpressibleByArgument, Sendable {
    /// The duration.
    package let duration: Duration

    /// Makes an argument of a duration.
    package init(_ duration: Duration) { self.duration = duration }

    /// Reads an argument; `nil` when it is none.
    package init?(argument: String) {
        guard let duration = try? DurationText.parse(argument) else { return nil }
        self.duration = duration
    }

    /// How help shows it.
    package var defaultValueDescription: String { DurationText.format(duration) }
}
