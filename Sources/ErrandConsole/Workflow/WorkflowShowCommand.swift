import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The command `errand workflow show`.
struct WorkflowShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows a workflow: its jobs in layers, with their states and what blocks them.",
        discussion: """
            Jobs are indented by the number of jobs that must end before them. WAITS FOR names what blocks a job; a dead \
            job that holds others up is marked. With --json, all jobs are listed in the order of their numbers.

            Examples:
              errand workflow show net:4fJ0aQ9bX2cD7eHk
              errand workflow show net:4fJ0aQ9bX2cD7eHk --json
            """
    )

    @OptionGroup var target: WorkflowArgument

    @Option(help: ArgumentHelp("The largest number of jobs in the table.", valueName: "n"))
    var limit = 500

    @OptionGroup var list: ListOptions

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit takes a number from 1") }
    }

    func run() async throws {
        try await target.options.withBroker { broker in
            guard let view = try await WorkflowView(of: target.id, on: broker) else {
                throw try await target.notFound(on: broker)
            }
            if target.options.json {
                let jobs = JSONOutput.list(try await view.jobs.lookedUp(on: broker).map(\.json))
                return StandardOutput.write(view.record.json.with(["jobs": jobs]).bytes)
            }
            StandardOutput.write(heading(of: view.record).terminalSafe)
            let layers = view.layers
            let shown = try await Array(layers.prefix(limit)).lookedUp(on: broker)
            WorkflowDrawing(jobs: shown, style: list.style).print()
            guard layers.count > shown.count else { return }
            StandardError.write("\((layers.count - shown.count).counted("job")) more; --limit shows more")
        }
    }

    private func heading(of workflow: WorkflowRecord) -> String {
        let moments = MomentText()
        let state = workflow.state.colour?.painted(workflow.state.rawValue) ?? workflow.state.rawValue
        let ended = workflow.count - workflow.open
        let facts = [
            "\(ended.grouped) of \(workflow.count.counted("job")) ended",
            workflow.dead > 0 ? "\(workflow.dead.grouped) dead" : nil,
            workflow.round > 1 ? "round \(workflow.round)" : nil,
            "pushed \(moments.relative(workflow.pushedAt))",
            workflow.endedAt.map { "ended \(moments.relative($0))" },
        ].compactMap(\.self)
        return "\(workflow.name.onOneLine()) (\(workflow.id)): \(state), " + facts.joined(separator: ", ")
    }
}

/// The jobs of a workflow as a table: one line a job, indented by layer.
struct WorkflowDrawing {
    /// Deeper jobs are not indented further, so that a long chain stays on the terminal.
    private static let deepest = 12

    let jobs: [WorkflowView.Job]
    let style: ListStyle

    func print() { table().print(width: style.width) }

    /// Makes the table.
    func table() -> TextTable {
        var table = TextTable([
            .left("JOB").cut(to: 12), .left("STATE"), .left("TIME").optional.dropped(4),
            .right("ATTEMPT").optional.dropped(3), .left("AFTER").optional.cut(to: 8).dropped(2),
            .left("WAITS FOR").optional.cut(to: 10), .left("ERROR").optional.cut(to: 12).dropped(1),
            .left("ID").dropped(5),
        ])
        for job in jobs { table.add(row(of: job)) }
        return table
    }

    private func row(of job: WorkflowView.Job) -> [TextTable.Cell] {
        let (member, moments) = (job.member, MomentText())
        let time = member.endedAt ?? job.summary?.time
        let attempt = job.summary?.attempt.flatMap { $0 > 0 ? "\($0)" : nil }
        return [
            TextTable.Cell(Self.indentation(job.depth) + member.key),
            TextTable.Cell(member.state.rawValue, colour: member.state.colour),
            TextTable.Cell(time.map { moments.cell($0, style) } ?? "-"), TextTable.Cell(attempt ?? "-"),
            TextTable.Cell(Self.words(member.needs.map(\.text)), atMost: style.mostCharacters),
            TextTable.Cell(
                Self.words(job.blockers.map(\.asBlocker)),
                colour: job.blockers.contains { $0.state == .dead } ? .red : .yellow,
                atMost: style.mostCharacters
            ),
            TextTable.Cell(job.summary?.error ?? "-", atMost: style.mostCharacters),
            TextTable.Cell("\(member.id) in \(member.queue)"),
        ]
    }

    static func indentation(_ depth: Int) -> String {
        depth == 0 ? "" : String(repeating: "  ", count: min(depth, deepest) - 1) + "└ "
    }

    private static func words(_ words: [String]) -> String { words.isEmpty ? "-" : words.joined(separator: ", ") }
}

extension WorkflowMemberRecord.Need {
    /// The key, with the condition unless it is the usual one.
    fileprivate var text: String { condition == .success ? key : "\(key) (\(condition.words))" }
}

extension WorkflowCondition {
    /// The condition for people.
    fileprivate var words: String { rawValue.replacing("_", with: " ") }
}

extension WorkflowMemberRecord {
    /// The key of a job that blocks another, marked if it is dead.
    fileprivate var asBlocker: String { state == .dead ? "\(key) (dead)" : key }
}
