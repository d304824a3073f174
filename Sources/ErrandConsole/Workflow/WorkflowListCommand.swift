import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The command `errand workflow list`.
struct WorkflowListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Lists workflows, the newest of each queue first.",
        discussion: """
            Ended workflows are kept for a day, at most 10,000 of a queue. With --json, each workflow is an object on a \
            line of its own.

            Examples:
              errand workflow list
              errand workflow list net --state failed --json
            """
    )

    @Argument(
        help: ArgumentHelp("Only workflows whose home is one of these queues.", valueName: "queue"),
        completion: QueueCompletion.kind
    )
    var queues: [String] = []

    @Option(help: "Only workflows in this state: running, finished, failed or cancelled.")
    var state: WorkflowState?

    @Option(help: ArgumentHelp("The largest number of workflows of a queue.", valueName: "n"))
    var limit = 100

    @OptionGroup var list: ListOptions
    @OptionGroup var options: ConsoleOptions

    func validate() throws {
        for queue in queues { try QueueRule.check(queue) }
        guard limit > 0 else { throw ValidationError("--limit takes a number from 1") }
    }

    func run() async throws {
        try await options.withBroker { broker in
            let names = try await names(of: broker)
            let (read, unreadable) = try await names.readingEach { queue throws(BrokerError) in
                try await workflows(on: queue, of: broker)
            }
            let found = read.flatMap(\.value.workflows)
            if options.json {
                for workflow in found { StandardOutput.write(workflow.json.bytes) }
            } else {
                printTable(of: found)
                for (queue, _) in read.filter({ $0.value.next != nil }) {
                    StandardError.write("queue \(queue) has more workflows; --limit shows more than \(limit.grouped)")
                }
            }
            try unreadable.fail("the workflows of the others are listed")
        }
    }

    private func names(of broker: RedisBroker) async throws(BrokerError) -> [String] {
        for queue in queues { try await broker.checkExists(queue) }
        guard queues.isEmpty else { return queues }
        let list = try await QueueList(of: broker)
        if let problem = list.problem { throw problem }
        return list.names
    }

    private func workflows(on queue: String, of broker: RedisBroker) async throws(BrokerError) -> WorkflowPage {
        var found = WorkflowPage()
        var position: Int? = 0
        while let first = position, found.workflows.count < limit {
            let page = try await broker.workflows(on: queue, from: first, count: 100)
            found.workflows += page.workflows.filter { state == nil || $0.state == state }
            position = page.next
        }
        let isCut = found.workflows.count > limit
        found.next = position ?? (isCut ? limit : nil)
        found.workflows = Array(found.workflows.prefix(limit))
        return found
    }

    private func printTable(of workflows: [WorkflowRecord]) {
        if workflows.isEmpty { return StandardError.write("no workflows") }
        var table = TextTable([
            .left("ID"), .left("NAME").cut(to: 10), .left("STATE"), .right("ENDED"), .right("JOBS"),
            .right("DEAD").optional, .right("ROUND").optional.dropped(1), .left("PUSHED").dropped(3),
            .left("AT AN END").optional.dropped(2),
        ])
        let (style, moments) = (list.style, MomentText())
        for workflow in workflows {
            table.add([
                TextTable.Cell(workflow.id.description),
                TextTable.Cell(workflow.name, atMost: style.mostCharacters),
                TextTable.Cell(workflow.state.rawValue, colour: workflow.state.colour),
                TextTable.Cell((workflow.count - workflow.open).grouped), TextTable.Cell(workflow.count.grouped),
                TextTable.Cell(workflow.dead.grouped, colour: .red),
                TextTable.Cell(workflow.round > 1 ? "\(workflow.round)" : "-"),
                TextTable.Cell(moments.cell(workflow.pushedAt, style)),
                TextTable.Cell(workflow.endedAt.map { moments.cell($0, style) } ?? "-"),
            ])
        }
        table.print(width: style.width)
    }
}
