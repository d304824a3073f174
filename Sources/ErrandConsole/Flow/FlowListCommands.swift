import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis
import Foundation

/// The command `errand flow list`.
struct FlowListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists the rules of a queue.",
        discussion: """
            Example:
              errand flow list mail --json
            """
    )

    @OptionGroup var target: QueueArgument

    func run() async throws {
        try await target.options.withBroker { broker in
            try await broker.checkExists(target.queue)
            let rules = try await broker.flow(of: target.queue)
            if target.options.json {
                let json = rules.map { JSONOutput.object([("pattern", .text($0.pattern))]).with($0.rule) }
                return StandardOutput.write(JSONOutput.list(json).bytes)
            }
            guard !rules.isEmpty else { return StandardOutput.write("\(target.queue) has no rules for groups") }
            var table = TextTable([
                .left("PATTERN").cut(to: 12), .right("AT ONCE"), .right("RATE"), .right("BURST"), .right("WEIGHT"),
                .right("WAITING"),
                .left("ORDER"),
            ])
            for entry in rules {
                let rule = entry.rule
                let values = [
                    rule.atOnce?.grouped, rule.rate?.text, rule.rate?.burst.grouped, rule.weight?.grouped,
                    rule.maxWaiting?.grouped,
                    rule.order.map { "on dead: \($0.rawValue)" } ?? (rule.isFairByTime ? "fair by time" : nil),
                ]
                let pattern = entry.pattern.isEmpty ? "(whole queue)" : entry.pattern
                table.add([TextTable.Cell(pattern)] + values.map { TextTable.Cell($0 ?? "-") })
            }
            table.print(width: Terminal.width)
        }
    }
}

extension JSONOutput {
    fileprivate func with(_ rule: FlowRule) -> JSONOutput {
        guard case .object(let members) = self, case .object(let more) = rule.json else { return self }
        return .object(members + more)
    }
}

/// The command `errand flow delete`.
struct FlowDeleteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Deletes the rule of a pattern; its limits end at once.",
        discussion: """
            Example:
              errand flow delete mail 'tenant-*'
            """
    )

    @OptionGroup var target: QueueArgument
    @OptionGroup var groups: FlowPatternArgument

    func run() async throws {
        try await target.options.withBroker { broker in
            try await broker.checkExists(target.queue)
            guard try await broker.deleteFlow(target.queue, matching: groups.pattern) else {
                throw CommandFailure(
                    "queue \"\(target.queue)\" has no rule for \"\(groups.pattern)\"; errand flow list \(target.queue) lists them",
                    ExitStatus.unsuccessful
                )
            }
            let json: JSONOutput = [
                "queue": .text(target.queue), "pattern": .text(groups.pattern), "deleted": .truth(true),
            ]
            let whom = groups.pattern.isEmpty ? "the whole queue" : groups.pattern
            let words = "\(target.queue) has no rule for \(whom) any more"
            StandardOutput.write(target.options.json ? json.bytes : Array(words.utf8))
        }
    }
}

/// The command `errand flow show`.
struct FlowShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows the groups with the most waiting jobs, or one group.",
        discussion: """
            Of a first part, the jobs of its second parts count as well.

            Examples:
              errand flow show mail
              errand flow show mail tenant-7 --json
            """
    )

    @OptionGroup var target: QueueArgument

    @Argument(help: ArgumentHelp("The name of a group, or the first part of some.", valueName: "group"))
    var group: String?

    func validate() throws {
        guard let group, GroupName(group) == nil else { return }
        throw ValidationError("\"\(group.onOneLine())\" is not a group: \(GroupName.rule)")
    }

    func run() async throws {
        try await target.options.withBroker { broker in
            try await broker.checkExists(target.queue)
            let groups = try await broker.groups(of: target.queue, named: group, most: GroupStatus.listed)
            let now = Int64(Date().timeIntervalSince1970 * 1000)
            let holds = try await broker.holds(of: groups, in: target.queue, now: now)
            if target.options.json {
                let all = groups.map { $0.json(holds[$0.group]) }
                return StandardOutput.write((group == nil ? .list(all) : all.first ?? .null).bytes)
            }
            guard !groups.isEmpty else { return StandardOutput.write("\(target.queue) has no jobs with a group") }
            table(of: groups, holds).print(width: Terminal.width)
        }
    }

    private func table(of groups: [GroupStatus], _ holds: [String: GroupHold]) -> TextTable {
        var table = TextTable([
            .left("GROUP").cut(to: 12), .right("WAITING"), .right("RUNNING"), .right("LIMIT"), .left("WAITS FOR"),
        ])
        for group in groups {
            table.add([
                TextTable.Cell(group.group), TextTable.Cell(group.waiting.grouped),
                TextTable.Cell(group.held.grouped, colour: group.isFull ? .yellow : nil),
                TextTable.Cell(group.limit.map(\.grouped) ?? "-"), TextTable.Cell(holds[group.group]?.words ?? "-"),
            ])
        }
        return table
    }
}

extension GroupStatus {
    /// The group as JSON for programs, with what holds it back, as `errand why` names it.
    fileprivate func json(_ hold: GroupHold?) -> JSONOutput {
        json.with(["waits_for": .text(orNull: hold?.reason.rawValue)])
    }
}
