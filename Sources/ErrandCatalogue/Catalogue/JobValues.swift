package import Errand
import ErrandText

/// The values that an operation or a schedule sets for its jobs.
package struct JobValues: Sendable {
    /// The queue.
    package var queue: String?
    /// The uniqueness policy.
    package var uniqueness: UniquenessPolicy?
    /// How long a job holds its name.
    package var uniqueUntil: UniqueUntil?
    /// The window of the policies `throttle` and `debounce`.
    package var window: Duration?
    /// How long a debounced job waits at most while newer ones come.
    package var atMost: Duration?
    /// How long a run may take.
    package var timeout: Duration?
    /// How long after the push a job expires unless a worker has claimed it.
    package var expiresIn: Duration?
    /// How often a failed run is retried, 0 to 1000.
    package var retries: Int?
    /// How long to wait before each retry.
    package var backoff: RetryDelays?
    /// The priority, 0 to 9; 9 is the highest.
    package var priority: Int?
    /// What a job is charged in its group's share, 1 to 1000000.
    package var cost: Int?
}

extension JobValues {
    /// The keys of the values.
    static let keys = [
        "unique", "unique_until", "window", "at_most", "timeout", "expires", "retries", "backoff", "queue", "priority",
        "cost",
    ]

    /// Reads the values from the keys of an operation or a schedule.
    init(_ entries: [String: CatalogueNode]) throws(CatalogueError) {
        self.init(
            queue: try entries["queue"]?.queue(),
            uniqueness: try entries["unique"]?.word("a uniqueness policy"),
            uniqueUntil: try entries["unique_until"]?.word("a moment at which a job gives up its name"),
            window: try entries["window"]?.duration("a window", in: DescriptionLimits.timeoutMilliseconds),
            atMost: try entries["at_most"]?.duration("a longest wait", in: DescriptionLimits.timeoutMilliseconds),
            timeout: try entries["timeout"]?.duration("a timeout", in: DescriptionLimits.timeoutMilliseconds),
            expiresIn: try entries["expires"]?.duration("an expiry", in: DescriptionLimits.timeoutMilliseconds),
            retries: try entries["retries"]?.number(in: DescriptionLimits.retries),
            backoff: try entries["backoff"]?.backoff(),
            priority: try entries["priority"]?.number(in: DescriptionLimits.priority),
            cost: try entries["cost"]?.number(in: DescriptionLimits.cost)
        )
        if let uniqueness, uniqueness.hasWindow, window == nil, let unique = entries["unique"] {
            throw unique.error("\"\(uniqueness.rawValue)\" needs a window; write how long it is, such as window: 5s")
        }
    }
}

extension CatalogueNode {
    fileprivate func queue() throws(CatalogueError) -> String {
        let name = try text()
        guard QueueName.isValid(name) else { throw error("\"\(name)\" is not a queue's name: \(Self.nameRule)") }
        return name
    }

    fileprivate func backoff() throws(CatalogueError) -> RetryDelays {
        let entries = try entries(known: ["base", "longest", "jitter"])
        let range = DescriptionLimits.backoffMilliseconds
        let base = try entries["base"]?.duration("a wait", in: range)
        let longest = try entries["longest"]?.duration("a wait", in: range)
        if let base, let longest, base > longest {
            let (base, longest) = (DurationText.format(base), DurationText.format(longest))
            throw (entries["longest"] ?? self).error("is \(longest), which is shorter than the base of \(base)")
        }
        var delays = RetryDelays(base: base, longest: longest)
        if let jitter = try entries["jitter"]?.fraction() { delays.jitter = jitter }
        return delays
    }

    private func fraction() throws(CatalogueError) -> Double {
        let text = try text("a number from 0 to 1")
        // Swift also reads numbers such as 0x1, and YAML has .5.
        let written = text.hasPrefix(".") ? "0" + text : text
        guard (try? JSONText(validating: written.utf8)) != nil, let number = Double(written),
            (0...1).contains(number)
        else { throw error("\"\(text)\" is not a number from 0 to 1") }
        return number
    }
}
