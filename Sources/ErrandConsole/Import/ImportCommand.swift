import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The command `errand import`.
struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Migrates waiting and stranded jobs from another library's keys in a live Redis.",
        discussion: """
            Without --commit it is a dry run that prints what it would migrate. With --commit each job is pushed first and \
            then removed from the old queue, so nothing is lost if the command is stopped, and it can be run again.

            Stop the old workers first; producers may continue until they push to Errand. Jobs keep their ids, due times and \
            remaining retries. An operation gets the name of the job, with _ for characters that Errand does not allow.

            swift-jobs and Vapor Queues do not always record whether the worker that took a job is still alive; such jobs are \
            only moved with --stranded. Sidekiq without super_fetch has lost the jobs of its killed workers.

            Examples:
              errand import --from swift-jobs --source redis://127.0.0.1:6379
              errand import --from vapor-queues --source-queue emails --stranded --commit
              errand import --from sidekiq --namespace app --commit \\
                --rename HardJob=reports.monthly
            """
    )

    @Option(help: "The library: swift-jobs, vapor-queues or sidekiq.")
    var from: ImportLibrary

    @Option(help: ArgumentHelp("The server with the old jobs; the broker's server by default.", valueName: "url"))
    var source: String?

    @Option(
        help: ArgumentHelp(
            "A queue of the library; repeatable.",
            discussion: "Without it: _hbJobQueue of swift-jobs, default of Vapor Queues, every queue of Sidekiq.",
            valueName: "name"
        )
    )
    var sourceQueue: [String] = []

    @Option(help: "Sidekiq's namespace, or Vapor's persistence key.")
    var namespace: String?

    @Option(
        help: ArgumentHelp("Push to this queue instead of one with the same name.", valueName: "queue"),
        completion: QueueCompletion.kind
    )
    var queue: String?

    @Option(help: ArgumentHelp("Another name for an operation; repeatable.", valueName: "old=new"))
    var rename: [String] = []

    @Flag(help: "Also import claimed jobs whose worker may still be alive. Stop the old workers first.")
    var stranded = false

    @Flag(help: "Migrate the jobs instead of a dry run.")
    var commit = false

    @OptionGroup var options: ConsoleOptions

    func validate() throws {
        if commit, !options.broker.namesBroker {
            throw ValidationError(
                "--commit removes jobs from their old queues; choose the destination with --redis URL (or --embedded DIR)"
            )
        }
        if let queue, !QueueName.isValid(queue) { throw ValidationError("--queue: a name is [A-Za-z0-9_.-]{1,128}") }
        _ = try renames()
    }

    func run() async throws {
        try await options.withBroker { broker in
            let old = try source.map { RedisBroker(try RedisAddress(url: $0), logger: CommandLogger.make("errand")) }
            defer { old?.close() }
            let redis = ForeignRedis(broker: old ?? broker)
            let run = ImportRun(
                source: from.source(redis, sourceQueue, namespace: namespace, stranded: stranded),
                redis: redis,
                broker: broker,
                queue: queue,
                renames: try renames(),
                commits: commit
            )
            try write(await run.run())
        }
    }

    private func renames() throws -> [String: String] {
        var renames: [String: String] = [:]
        for text in rename {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, QueueName.isValid(parts[1]) else {
                throw ValidationError("--rename \(text): write OLD=NEW, the new one of [A-Za-z0-9_.-]{1,128}")
            }
            renames[ImportedName.adapted(parts[0])] = parts[1]
        }
        return renames
    }

    private func write(_ report: ImportRun.Report) throws {
        let found = report.found
        let sums = found.reduce(into: (readable: 0, moved: 0, skipped: 0)) { sums, one in
            sums = (sums.readable + one.readable, sums.moved + one.moved, sums.skipped + one.skipped)
        }
        if options.json {
            let object: JSONOutput = .object([
                ("from", .text(from.rawValue)), ("committed", .truth(commit)), ("readable", .count(sums.readable)),
                ("moved", .count(sums.moved)), ("skipped", .count(sums.skipped)), ("places", .list(found.map(\.json))),
                ("blocked", .list(report.blocked.map(\.json))), ("problem", .text(orNull: report.failure?.message)),
            ])
            StandardOutput.write(object.bytes)
        } else {
            for one in found { write(one) }
            for one in report.blocked {
                StandardOutput.write("queue \(one.queue) accepts nothing: \(one.error.message.terminalSafe)")
            }
            StandardOutput.write(
                commit
                    ? "\(sums.moved.counted("job")) moved, \(sums.skipped) left where they are"
                    : "\((sums.readable - report.blockedJobs).counted("job")) to move, \(sums.skipped + report.blockedJobs) to leave; "
                        + "nothing was changed: --commit moves them"
            )
        }
        if let failure = report.failure {
            let until = commit ? "; the jobs moved so far are counted above, and the command can be run again" : ""
            throw CommandFailure("stopped: \(failure.message)\(until)", failure.status)
        }
        if let first = report.blocked.first {
            throw CommandFailure(
                "\(report.blocked.count.counted("queue")) would accept none of these jobs, as listed above: "
                    + "queue \(first.queue): \(first.error.message)",
                ExitStatus.unsuccessful
            )
        }
        let unread = found.count { $0.problem != nil }
        if unread > 0 {
            throw CommandFailure(
                "\(unread.counted("place")) of \(found.count) cannot be read, as listed above; the others were \(commit ? "moved" : "checked")",
                ExitStatus.unsuccessful
            )
        }
        if commit, sums.skipped > 0 { throw ExitStatus.unsuccessful }
    }

    private func write(_ found: ImportRun.Found) {
        let kind = found.place.isStranded ? "stranded" : "waiting"
        StandardOutput.write(
            "\(found.place.key.terminalSafe)  \(kind): \(found.readable), moved \(found.moved), left \(found.skipped)"
        )
        if let problem = found.problem { StandardOutput.write("    not read on: \(problem.message.terminalSafe)") }
        for reason in found.reasons { StandardOutput.write("    left: \(reason.terminalSafe)") }
    }
}
