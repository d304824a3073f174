/// Commands with their times: what a seed stands for, and what is left of it after shrinking.
package struct History: Sendable {
    package struct Step: Sendable {
        package var time: Time
        package var command: Command
    }

    package var steps: [Step] = []

    package init() {}

    /// Returns the same history of another queue.
    func on(_ queue: String) -> History {
        var history = self
        for index in steps.indices { history.steps[index].command = steps[index].command.on(queue) }
        return history
    }
}

/// Where a history went wrong, and how.
package struct Fault: Sendable {
    package var step: Int
    package var what: String

    /// What goes wrong, without the values.
    package var kind: String { String(what.prefix(60).prefix { $0 != "\n" }).filter { !$0.isNumber } }
}
