import ArgumentParser
import Errand
import ErrandCatalogue
import ErrandCommandLine
import ErrandOperator
import ErrandRedis
import ErrandText
import Foundation

/// The command `errand-producer push`.
struct PushCommand: AsyncParsableCommand {
    /// A function that adds missing values to a description.
    private typealias Filling = (OperationDescription) throws -> OperationDescription

    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Pushes one job, one for each line of a file, or a workflow.",
        usage: """
            errand-producer push OPERATION [ARGUMENTS-JSON] [options] [--wait[=D]]
            errand-producer push --from FILE|- [--json]
            errand-producer push --workflow FILE|- [--wait[=D]] [--json]
            """,
        discussion: """
            Examples:
              errand-producer push checksum '{"path":"a.jpg"}' --unique drop
              errand-producer push checksum '{"path":"a.jpg"}' --retries 3 --wait=1m
              errand-producer push --from jobs.ndjson --json > receipts.ndjson
              errand-producer push --workflow import.yaml --wait=10m

            A line of --from is an operation description, such as
              {"operation":"checksum","arguments":{"path":"a.jpg"},"unique":"drop"}
            A bad line is reported with its number and skipped; empty lines are skipped.

            A workflow is a file of JSON or YAML, such as
              workflow: import 42
              jobs:
                fetch: {operation: fetch, arguments: {url: "https://example.org"}}
                parse: {operation: parse, after: [fetch]}
            With --workflow, only --unique drop|replace, --queue and --id of the policy apply: the name's uniqueness, the
            home queue, and the id of a push to repeat. With --wait it ends as soon as a dead job holds the workflow up,
            though other jobs may go on.

            Exit status:
              0   pushed; with --wait: the job or workflow has finished
              1   with --wait: it did not finish successfully; with --from: a damaged queue rejected its lines
              64  wrong usage
              65  bad input; with --from: lines were rejected, the rest was pushed
              69  the broker cannot be reached, or the queue or a group is full
              75  the outcome is unknown; with --wait: the time has passed
              77  not permitted
              78  bad configuration
            """
    )

    @Argument(help: "The operation, such as thumbnail.")
    var operation: String?

    @Argument(help: ArgumentHelp("Its arguments, any JSON value; {} by default.", valueName: "arguments-json"))
    var arguments: String?

    @Option(help: ArgumentHelp("Push one job for each line of a file; - is standard input.", valueName: "file"))
    var from: String?

    @Option(help: ArgumentHelp("Push the workflow in a file of JSON or YAML; - is standard input.", valueName: "file"))
    var workflow: String?

    @Option(help: ArgumentHelp("An operations catalogue with defaults for the jobs.", valueName: "file"))
    var catalogue: String?

    @OptionGroup(title: "Policy") var policy: PolicyOptions

    @Option(
        help: ArgumentHelp(
            "Wait until the job or workflow has ended, and print its result; --wait=10s waits no longer than that.",
            valueName: "duration"
        ),
        transform: { try WaitLimit(parsing: $0) }
    )
    var wait: WaitLimit?

    @Option(
        help: ArgumentHelp(
            "How many replicas of the server must have a job before it counts as accepted: 0 to 32.",
            discussion: "If fewer have it within 5 s, the outcome is unknown: a failover may still lose the job.",
            valueName: "n"
        )
    )
    var replicas = 0

    @Flag(help: "Write receipts as JSON, one a line, and nothing else; with --wait also state, result and error.")
    var json = false

    @Option(help: "The format of the log on standard error: text, or json with an object a line.")
    var logFormat = LogFormat.text

    @OptionGroup var metrics: MetricsOptions

    @OptionGroup(title: "Broker") var broker: BrokerOptions

    func validate() throws {
        guard (0...32).contains(replicas) else { throw ValidationError("--replicas takes a number of 0 to 32") }
        if workflow != nil { return try validateWorkflow() }
        try policy.checkWindows(mayBeElsewhere: catalogue != nil)
        guard from != nil else {
            if operation == nil { throw ValidationError("name an operation, or a file with --from or --workflow") }
            return
        }
        if operation != nil { throw ValidationError("--from and an operation exclude each other") }
        if wait != nil { throw ValidationError("--wait is for one job; it cannot be used with --from") }
        guard policy.isEmpty else {
            throw ValidationError(
                "--queue, --name and the other options for one job cannot be used with --from; write them into the lines"
            )
        }
    }

    private func validateWorkflow() throws {
        if operation != nil { throw ValidationError("--workflow and an operation exclude each other") }
        if from != nil { throw ValidationError("--workflow and --from exclude each other") }
        guard policy.fitsWorkflow else {
            throw ValidationError(
                "with --workflow, the file contains the jobs; only --unique, --queue and --id are allowed"
            )
        }
        guard [nil, .drop, .replace].contains(policy.unique) else {
            throw ValidationError("a workflow takes --unique drop or --unique replace")
        }
        guard let id = policy.id, WorkflowID(id) == nil else { return }
        throw ValidationError("\"\(id.onOneLine())\" is not a workflow's id, such as mail:4fJ0aQ9bX2cD7eHk")
    }

    func run() async throws {
        if logFormat == .json { StandardError.writeEntries(of: "errand-producer") }
        try await reportingFailures {
            let logger = CommandLogger.make("errand-producer", format: logFormat)
            let defaults = try CatalogueDefaults(path: catalogue)
            let trace = CallerTrace(environment: ProcessInfo.processInfo.environment, logger: logger)
            let measuring = try Measuring(metrics, of: "producer")
            try await measuring.during(logger) {
                try await push(measuring) { trace.added(to: try defaults.filling($0)) }
            }
        }
    }

    private func push(_ measuring: Measuring, _ filled: @escaping Filling) async throws {
        if let workflow { return try await pushWorkflow(workflow, measuring, filled) }
        guard let from else { return try await pushOne(measuring, filled) }
        let input = try LineInput(from, lineLimit: DescriptionLimits.descriptionBytes)
        try await broker.withBroker(as: "errand-producer", replicas: replicas, logFormat: logFormat) { broker in
            let producer = Producer(broker: broker)
            var push = LinesPush(input: input, producer: producer, json: json, measuring: measuring, filled: filled)
            try await push.run()
        }
    }

    private func pushWorkflow(_ file: String, _ measuring: Measuring, _ filled: Filling) async throws {
        // Validate before connecting to a broker.
        let workflow = try WorkflowFile.read(file, changing: filled)
            .with(queue: policy.queue, unique: policy.unique)
        try await broker.withBroker(as: "errand-producer", replicas: replicas, logFormat: logFormat) { broker in
            let producer = Producer(broker: broker, middleware: measuring.middleware)
            let push = WorkflowPush(producer: producer, wait: wait, json: json)
            try await push.run(workflow, id: policy.id.flatMap(WorkflowID.init))
        }
    }

    private func pushOne(_ measuring: Measuring, _ filled: Filling) async throws {
        // Validate before connecting to a broker. A description rejects a small time, which may be in seconds. A date has
        // no such doubt: it is long past, so the job is ready at once.
        let earliest = policy.at.map { $0 < DescriptionLimits.notBeforeSeconds.upperBound ? 0 : $0 }
        let described = try describe(notBefore: earliest, filled)
        try await broker.withBroker(as: "errand-producer", replicas: replicas, logFormat: logFormat) { broker in
            var description = described
            if let delay = policy.delay {
                let now = try await broker.now(on: description.queue)
                description = try describe(notBefore: now + Int64(delay.wholeMilliseconds), filled)
            }
            let producer = Producer(broker: broker, middleware: measuring.middleware)
            try await SinglePush(producer: producer, wait: wait, json: json).run(description)
        }
    }

    private func describe(notBefore: Int64?, _ filled: Filling) throws -> OperationDescription {
        do {
            let description = try filled(try unfilled(notBefore: notBefore))
            try policy.checkTimes(for: description.uniquenessPolicy)
            // The policy may need a window.
            _ = try description.makeEnvelope()
            return description
        } catch let error as DescriptionError {
            throw CommandFailure(ValueNames.options.explanation(of: error), ExitStatus.badInput)
        }
    }

    private func argumentsText() throws(CommandFailure) -> JSONText {
        let text = Array(TextEncoding.withoutMark(arguments ?? "{}").utf8)
        do { return try JSONText(validating: text) } catch {
            let hint = error.code == .malformed ? "; write an object in single quotes: '{\"path\": \"a.jpg\"}'" : ""
            throw CommandFailure(error.explanation(inArguments: text) + hint, ExitStatus.badInput)
        }
    }

    private func unfilled(notBefore: Int64?) throws -> OperationDescription {
        try OperationDescription(
            operation ?? "",
            arguments: try argumentsText(),
            queue: policy.queue,
            name: policy.name,
            unique: policy.unique,
            uniqueUntil: policy.uniqueUntil,
            window: policy.window,
            atMost: policy.atMost,
            timeout: policy.timeout,
            notBefore: notBefore,
            expiresIn: policy.expires,
            retries: policy.retries,
            backoff: policy.backoff?.delays,
            priority: policy.priority,
            group: policy.group,
            cost: policy.cost,
            id: policy.id,
            tags: policy.tags
        )
    }
}
