import ErrandText

/// The `backoff` of an operation or a schedule: how long to wait before each retry.
package struct CatalogueBackoff: Sendable, Equatable {
    /// The longest permitted duration, as in a job's description.
    package static let longestDuration = Duration.seconds(365 * 86_400)

    /// The wait before the first retry; `nil` if not specified.
    package var base: Duration?
    /// The longest wait, which is never shorter than the base; `nil` if not specified.
    package var longest: Duration?
    /// The largest fraction by which a wait is shortened at random, 0 to 1; `nil` if not specified.
    package var jitter: Double?

    /// Makes a backoff of the specified values.
    package init(base: Duration? = nil, longest: Duration? = nil, jitter: Double? = nil) {
        self.base = base
        self.longest = longest
        self.jitter = jitter
    }
}

extension CatalogueReader {
    func backoff(_ value: CatalogueNode) throws(CatalogueError) -> CatalogueBackoff {
        let entries = try value.entries(known: ["base", "longest", "jitter"])
        let backoff = CatalogueBackoff(
            base: try entries["base"].map(wait),
            longest: try entries["longest"].map(wait),
            jitter: try entries["jitter"].map(jitter)
        )
        if let base = backoff.base, let longest = backoff.longest, base > longest {
            let (base, longest) = (DurationText.format(base), DurationText.format(longest))
            throw (entries["longest"] ?? value).error("is \(longest), which is shorter than the base of \(base)")
        }
        return backoff
    }

    private func wait(_ value: CatalogueNode) throws(CatalogueError) -> Duration {
        let wait = try duration(value)
        guard wait <= CatalogueBackoff.longestDuration else {
            let longest = DurationText.format(CatalogueBackoff.longestDuration)
            throw value.error("is \(DurationText.format(wait)); a wait is at most \(longest)")
        }
        return wait
    }

    private func jitter(_ value: CatalogueNode) throws(CatalogueError) -> Double {
        let text = try value.text()
        guard JSONNumber.isWhole(text.utf8[...]), let jitter = Double(text), (0...1).contains(jitter) else {
            throw value.error("\"\(text)\" is not a number from 0 to 1")
        }
        return jitter
    }
}
