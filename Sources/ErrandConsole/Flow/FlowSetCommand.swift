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
            with a slash is for second parts, one without for first parts, and '' for the whole queue. The queue is \
            created if it does not exist.

            Examples:
              errand flow set mail 'tenant-*' --at-once 4
              errand flow set mail 'tenant-*/*' --at-once 1
              errand flow set mail tenant-7 --at-once 20 --weight 3
              errand flow set mail 'api-*' --rate 100/1s --burst 20
              errand flow set mail 'account-*' --ordered --on-dead skip
              errand flow set mail '' --at-once 50
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

    @Option(
        help: ArgumentHelp(
            "How many jobs of a group may start in a time: 100/1s, 5/1m, 1000/1d.",
            valueName: "n/duration"
        )
    )
    var rate: RateArgument?

    @Option(help: ArgumentHelp("How many may start at once after a pause, with --rate (default: 1).", valueName: "n"))
    var burst: Int?

    @Flag(help: "The jobs of a group run one at a time and in the order of their pushes, also across retries.")
    var ordered = false

    @Option(
        help: ArgumentHelp(
            "With --ordered: when a job is dead, hold waits until it is retried or deleted, skip goes on (default: hold).",
            valueName: "hold|skip"
        )
    )
    var onDead: FlowOrderArgument?

    @Option(
        help: ArgumentHelp(
            "How many jobs of a group may be ready, 1 to 10000000; later pushes are refused.",
            valueName: "n"
        )
    )
    var maxWaiting: Int?

    @Option(
        help: ArgumentHelp(
            "For the whole queue: what groups are charged for their share, the jobs' costs or measured run times.",
            valueName: "cost|time"
        )
    )
    var fairBy: FlowCharge?

    private var rule: FlowRule {
        FlowRule(
            atOnce: atOnce,
            rate: rate.map { FlowRate($0.rate.starts, per: $0.rate.per, burst: burst ?? 1) },
            weight: weight,
            order: ordered ? onDead?.order ?? .holdDead : nil,
            isFairByTime: fairBy == .time,
            maxWaiting: maxWaiting
        )
    }

    func validate() throws {
        if rule == FlowRule(), burst == nil, onDead == nil, fairBy == nil {
            throw ValidationError(
                "say what the rule is: --at-once, --rate, --weight, --ordered, --max-waiting, --fair-by; errand flow delete removes a rule"
            )
        }
        if fairBy != nil, !groups.pattern.isEmpty { throw ValidationError("--fair-by is for the whole queue, ''") }
        if onDead != nil, !ordered { throw ValidationError("--on-dead is for --ordered") }
        if burst != nil, rate == nil { throw ValidationError("--burst is for --rate, which says how often jobs start") }
        do throws(BrokerError) {
            try rule.check(for: try FlowMatching(groups.pattern))
        } catch {
            throw ValidationError(error.message)
        }
    }

    func run() async throws {
        try await target.options.withBroker { broker in
            try await broker.setFlow(target.queue, matching: groups.pattern, rule)
            let json = rule.json.with(["queue": .text(target.queue), "pattern": .text(groups.pattern)])
            let whom = groups.pattern.isEmpty ? target.queue : "groups \(groups.pattern) of \(target.queue)"
            let words = "\(whom): \(rule.words)"
            StandardOutput.write(target.options.json ? json.bytes : Array(words.utf8))
        }
    }
}

extension FlowRule {
    /// The rule for programs; values that it does not set are `null`.
    var json: JSONOutput {
        [
            "at_once": .number(orNull: atOnce.map(Int64.init)),
            "rate": .number(orNull: (rate?.starts).map(Int64.init)),
            "rate_ms": .number(orNull: (rate?.per.wholeMilliseconds).map(Int64.init)),
            "burst": .number(orNull: (rate?.burst).map(Int64.init)),
            "weight": .number(orNull: weight.map(Int64.init)),
            "max_waiting": .number(orNull: maxWaiting.map(Int64.init)),
            "fair_by": .text(isFairByTime ? "time" : "cost"),
            "ordered": .truth(order != nil),
            "on_dead": order.map { .text($0.rawValue) } ?? .null,
        ]
    }
}
