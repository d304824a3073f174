import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The command `errand import`.
struct ImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Moves waiting and stranded jobs over from another library's keys in a live Redis.",
        discussion: """
            Without --commit it only looks, and says what it would move. With it each job is pushed first and taken out of the old \
            queue afterwards: whenever it is stopped, nothing is lost, and it can be run again.

            Stop the old workers first; producers may go on until they push to Errand. Jobs keep their ids, the time at which they are due \
            and the retries that are left. An operation is named as the job was, with _ for what Errand does not take in a name.

            swift-jobs and Vapor Queues do not always say whether the worker lives that took a job; such jobs stay where they are \
            unless you say --stranded. Sidekiq without super_fetch has lost what its killed workers held.

            Examples:
              errand import --from swift-jobs --source redis://127.0.0.1:6379
              errand import --from vapor-queues --source-queue emails --stranded --commit
              errand import --from sidekiq --namespace app --rename HardJob=reports.monthly --commit
            """
    )

    @Option(help: "The library: swift-jobs, vapor-queues or sidekiq.")
    var from: ImportLibrary

    @Option(help: ArgumentHelp("The server with the old jobs; the broker's unless given.", valueName: "url"))
    var source: String?

    @Option(
        help: ArgumentHelp(
            "A queue there; repeatable.",
            discussion: "Without it: _hbJobQueue of swift-jobs, default of Vapor Queues, every queue of Sidekiq.",
            valueName: "name"
        )
    )
    var sourceQueue: [String] = []

    @Option(help: "Sidekiq's namespace, or Vapor's persistence key.")
    var namespace: String?

    @Option(help: ArgumentHelp("Push to this queue instead of one of the same name as there.", valueName: "queue"))
    var queue: String?

    @Option(help: ArgumentHelp("Another name for an operation; repeatable.", valueName: "old=new"))
    var rename: [String] = []

    @Flag(help: "Also import claimed jobs whose worker may still be alive. Stop the old workers first.")
    var stranded = false

    @Flag(help: "Move them, instead of just looking.")
    var commit = false

    @OptionGroup var options: ConsoleOptions

    func validate() throws {
        if commit, !options.broker.namesBroker {
            throw ValidationError(
                "--commit takes jobs away from where they are: say with --redis URL (or --embedded DIR) where they are to go"
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
                StandardOutput.write("queue \(one.queue) takes nothing: \(one.error.message.terminalSafe)")
            }
            StandardOutput.write(
                commit
                    ? "\(sums.moved.counted("job")) moved, \(sums.skipped) left where they are"
                    : "\((sums.readable - report.blockedJobs).counted("job")) to move, \(sums.skipped + report.blockedJobs) to leave; "
                        + "nothing was changed: --commit moves them"
            )
        }
        if let failure = report.failure {
            let until = commit ? "; what was moved until then is said above, and it can be run again" : ""
            throw CommandFailure("stopped: \(failure.message)\(until)", failure.status)
        }
        if let first = report.blocked.first {
            throw CommandFailure(
                "\(report.blocked.count.counted("queue")) would take none of these jobs, as said above: "
                    + "queue \(first.queue): \(first.error.message)",
                ExitStatus.unsuccessful
            )
        }
        let unread = found.count { $0.problem != nil }
        if unread > 0 {
            throw CommandFailure(
                "\(unread.counted("place")) of \(found.count) cannot be read, as said above; the others were \(commit ? "moved" : "looked at")",
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
