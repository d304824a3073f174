package import ErrandText

/// A duration as an option: `250ms`, `10s`, `5m`, `2h`, `1d`. The option's `transform` makes it, so that the error for
/// other texts shows how to write one.
package struct DurationArgument: Sendable {
    /// The duration.
    package let duration: Duration

    /// Makes an argument from a duration.
    package init(_ duration: Duration) { self.duration = duration }

    /// Parses an argument.
    ///
    /// - Throws: ``DurationTextError`` if it is not a duration.
    package init(parsing argument: String) throws(DurationTextError) {
        duration = try DurationText.parse(argument)
    }
}
