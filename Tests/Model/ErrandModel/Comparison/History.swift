/// Commands with their times: what a seed stands for, and what is left of it after shrinking.
package struct History: Sendable {
    package struct Step: Sendable {
        package var time: Time
        package var command: Command
    }

    package var steps: [Step] = []

    package init() {}
}

/// Where a history went wrong, and how.
package struct Fault: Sendable {
    package var step: Int
    package var what: String
}
