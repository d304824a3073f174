/// Commands with their times: what a seed stands for, and what is left of it after shrinking.
package struct History: Hashable, Sendable {
    package struct Step: Hashable, Sendable {
        package var time: Time
        package var command: Command
    }

    package var steps: [Step] = []

    package init() {}
}
