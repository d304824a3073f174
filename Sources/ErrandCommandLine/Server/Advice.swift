/// Something that may want a change, but breaks no promise of the data.
package struct Advice: Sendable, Equatable {
    /// A short word, for programs.
    package let kind: String
    /// The queue, where it concerns one.
    package var queue: String?
    /// What is so, what it costs, and what to do.
    package let message: String

    /// Makes a piece of advice.
    package init(kind: String, queue: String? = nil, message: String) {
        self.kind = kind
        self.queue = queue
        self.message = message
    }
}
