import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The command `errand flow set`.
struct FlowSetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set",
        abstract: "Sets the rule for the groups of a pattern, instead of the rule that the pattern had.",
        discussion: """
            The rule applies from the next claim on, also to jobs that wait already. A * stands for any characters but a \
            slash; if several patterns match a group, the one with the longest text before its first * applies. A pattern \
            with a slash is for second parts, one without for first parts. The queue is created if it does not exist.

            Examples:
              errand flow set mail 'tenant-*' --at-once 4
              errand flow set mail 'tenant-*/*' --at-once 1
              errand flow set mail tenant-7 --at-once 20 --weight 3
            """
    )

    @OptionGroup var target: QueueArgument
    @OptionGroup var groups: FlowPatternArgument

    @Option(
        help: ArgumentHelp("How many jobs of a group may be claimed at the same time, 1 to 1000000.", valueName: "n")
    )
    var atOnce: Int?

    @Option(help: ArgumentHelp("The share of a group relative to others, 1 to 1000 (default: 1).", valueName: "n"))
    var weight: Int?

    private var rule: FlowRule { FlowRule(atOnce: atOnce, weight: weight) }

    func validate() throws {
        if rule == FlowRule() {
            throw ValidationError("say what the rule is: --at-once, --weight; errand flow delete removes a rule")
        }
        do throws(BrokerError) {
            _ = try FlowMatching(groups.pattern)
            try rule.check()
        } catch {
            throw ValidationError(error.message)
        }
    }

    func run() async throws {
        try await target.options.withBroker { broker in
            try await broker.setFlow(target.queue, matching: groups.pattern, rule)
            let json = rule.json.with(["queue": .text(target.queue), "pattern": .text(groups.pattern)])
            let words = "groups \(groups.pattern) of \(target.queue): \(rule.words)"
            StandardOutput.write(target.options.json ? json.bytes : Array(words.utf8))
        }
    }
}

extension FlowRule {
    /// The rule for programs; values that it does not set are `null`.
    var json: JSONOutput {
        [
            "at_once": .number(orNull: atOnce.map(Int64.init)),
            "weight": .number(orNull: weight.map(Int64.init)),
        ]
    }

    /// The rule for people.
    var words: String {
        let words = [atOnce.map { "\($0) at once" }, weight.map { "weight \($0)" }].compactMap(\.self)
        return words.isEmpty ? "no limit" : words.joined(separator: ", ")
    }
}
