import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandText

/// The command `errand job show`.
struct JobShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows jobs in detail.",
        discussion: """
            Arguments may be private, so they are only shown with --show-arguments.

            Examples:
              errand job show 01KA9ZK9M00001H9J4V5Q6ZBHW --show-arguments
              errand job show 01KA9ZK9M00001…
            """
    )

    @OptionGroup var jobs: JobOptions

    @Flag(help: "Show the arguments too.")
    var showArguments = false

    func run() async throws {
        try await jobs.options.withBroker { broker in
            let found = try await jobs.find(in: broker)
            var isFirst = true
            for job in found.ids.flatMap({ found.jobs[$0] ?? [] }) {
                if jobs.options.json {
                    let shown = job.json(withErrors: true, withArguments: showArguments)
                    StandardOutput.write(shown.with(["meta": job.metaJSON]).bytes)
                } else {
                    if !isFirst { StandardOutput.write("") }
                    show(job, await job.worker(on: broker))
                }
                isFirst = false
            }
            found.unreadable.warn()
            let missing = found.ids.filter { found.jobs[$0] == nil }
            if !missing.isEmpty { throw found.failure(ofMissing: missing) }
            if let failure = found.unreadable.failure("the jobs shown are those of the other queues") { throw failure }
        }
    }

    private func show(_ job: JobSummary, _ worker: String?) {
        let (description, moments) = (job.stored?.description, MomentText())
        let facts: [(String, String?)] = [
            ("id", job.record.id), ("queue", job.queue), ("state", job.record.state.rawValue),
            ("operation", job.operation), ("name", job.name), ("unique", job.stored?.policy.rawValue),
            ("workflow", description?.workflow.map { "\($0.id), as \($0.key)" }),
            ("tags", job.tags.isEmpty ? nil : job.tags.joined(separator: ", ")),
            ("priority", job.stored.map { "\($0.priority)" }), ("group", description?.group),
            ("cost", description?.cost.map { "\($0)" }),
            ("timeout", description?.timeout.map { TimeSpanText.exact($0) }),
            ("retries", description?.retries.map { "\($0)" }), ("backoff", job.backoff),
            ("attempt", job.attempt.map { "\($0)" }), ("failures", "\(job.record.failures)"),
            ("crashes", "\(job.record.crashes)"), ("pushed", job.pushed.map(moments.detail)),
            ("ready since", job.since.map(moments.detail)), ("running", job.running(at: moments.now)),
            (job.record.state.hasEnded ? "ended" : "due", job.record.at.map(moments.detail)), ("worker", worker),
            ("progress", job.progress), ("error", job.error), ("result", job.result),
            ("arguments", showArguments ? description?.arguments.description : nil),
        ]
        let meta: [(String, String?)] = job.meta.map { ("meta", "\($0.key): \($0.value)".onOneLine()) }
        for case (let title, let text?) in facts + meta {
            let heading = title.padding(toWidth: 13)
            StandardOutput.write("\(Colour.faint.painted(heading)) \(text.terminalSafe)")
        }
        for run in job.failedRuns { show(run) }
    }

    private func show(_ run: JobEvent) {
        let time = run.atMilliseconds.map(MomentText().detail) ?? "-"
        let took = run.durationMilliseconds.map { " after \(TimeSpanText.exact($0))" } ?? ""
        let attempt = run.attempt.map { "attempt \($0)" } ?? "an attempt"
        let what = (run.event ?? "failed").replacing("_", with: " ")
        let reason = run.error ?? (run.event == "recovered" ? "its worker was lost" : "no reason given")
        let line = "\(time)  \(attempt) \(what)\(took): \(reason)"
        StandardOutput.write(line.terminalSafe)
    }
}

extension String {
    fileprivate func padding(toWidth width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}
