/// A problem that may need a change, but does not endanger the data.
package struct Advice: Sendable, Equatable {
    /// A short word, for programs.
    package let kind: String
    /// The queue, if it concerns one.
    package var queue: String?
    /// The problem, its consequence, and the remedy.
    package let message: String

    /// Makes a piece of advice.
    package init(kind: String, queue: String? = nil, message: String) {
        self.kind = kind
        self.queue = queue
        self.message = message
    }
}
