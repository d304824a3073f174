import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// `errand doctor`.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Looks for broken invariants in the data, and for settings that endanger jobs.",
        discussion: """
            Findings are broken invariants of the data; advice concerns the server's settings and what may want a look.
            Exit status: 0 when there are no findings, 1 when there are (also when all of them were repaired: look again).

            Examples:
              errand doctor
              errand doctor --repair --json
            """
    )

    @Flag(help: "Mend what can be mended.")
    var repair = false

    @OptionGroup var queues: QueueOptions
    @OptionGroup var options: ConsoleOptions

    func run() async throws {
        try await options.withBroker { broker in
            var report = DoctorReport()
            // The server first: what is wrong with it explains what cannot be examined afterwards.
            await report.examine { report throws(BrokerError) in
                report.advice = try await ServerAdvice(broker: broker).advice
            }
            await report.examine { report throws(BrokerError) in try await look(at: broker, &report) }
            write(report)
            if let failure = report.failure { throw failure }
            if !report.isClean { throw ExitStatus.unsuccessful }
        }
    }

    private func look(at broker: RedisBroker, _ report: inout DoctorReport) async throws(BrokerError) {
        let (known, missing) = try await queues.known(to: broker)
        let lost = queues.named.isEmpty ? try await broker.auditRegistry(repair: repair) : []
        report.findings = lost
        let names = Set(known + lost.map(\.queue)).sorted()
        try await QueueExamination(broker: broker, repair: repair).add(to: &report.findings, in: names)
        report.advice += try await QueueAdvice(broker: broker).advice(on: names)
        if let missing = missing.first { throw BrokerError(missingQueue: missing) }
    }

    private func write(_ report: DoctorReport) {
        if options.json { StandardOutput.write(report.json.bytes) } else { report.print() }
    }
}
