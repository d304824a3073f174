import ArgumentParser
import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandRedis

/// The command `errand doctor`. What each finding means, and what its repair changes, is in
/// ``FindingExplanations``.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Checks the data for broken invariants and the server for settings that endanger jobs.",
        discussion: """
            Findings are broken invariants of the data; advice concerns the server's settings and other things to look at.
            The exit status is 0 without findings and 1 with findings, even if all of them were repaired: run it again then.
            If the server rejects writes, --repair still reports findings, repairs nothing, and exits with 69 if there are
            any.

            Examples:
              errand doctor
              errand doctor --repair --json
            """
    )

    @Flag(help: "Repair the findings that can be repaired.")
    var repair = false

    @OptionGroup var queues: QueueOptions
    @OptionGroup var options: ConsoleOptions

    func run() async throws {
        try await options.withBroker { broker in
            var report = DoctorReport()
            // Examine the server first, because its problems explain what cannot be examined afterwards.
            await report.examine { report throws(BrokerError) in
                let servers = try await ServersAdvice(broker: broker)
                (report.advice, report.unreachable) = (servers.advice, servers.unreachable)
            }
            await report.examine { report throws(BrokerError) in try await look(at: broker, &report) }
            write(report)
            if let failure = report.failure { throw failure }
            if !report.isClean { throw ExitStatus.unsuccessful }
        }
    }

    private func look(at broker: RedisBroker, _ report: inout DoctorReport) async throws(BrokerError) {
        let refusal = repair ? await broker.refusalOfWrites() : nil
        report.repairRefusal = refusal
        let repairs = repair && refusal == nil
        let (list, missing) = try await existing(on: broker, repair: repairs, &report)
        let lost = try await broker.serverStates(for: list.names).filter { !$0.isReachable }.flatMap(\.queues)
        (report.unexamined, report.listProblem) = (lost.sorted(), list.problem)
        let tried = Set(list.names).subtracting(lost).sorted()
        report.stuck = try await QueueExamination(broker: broker, repair: repairs).add(to: &report.findings, in: tried)
        let names = Set(tried).subtracting(report.stuck.map(\.queue)).sorted()
        report.advice += try await QueueAdvice(broker: broker).advice(on: names)
        report.advice += try await LargeQueues(broker: broker).advice(on: names)
        if let missing = missing.first { throw BrokerError(missingQueue: missing) }
    }

    /// Returns the queues to examine: those that are named, or all that the registry has or that have keys.
    private func existing(
        on broker: RedisBroker,
        repair: Bool,
        _ report: inout DoctorReport
    ) async throws(BrokerError) -> (list: QueueList, missing: [String]) {
        guard queues.named.isEmpty else { return try await queues.known(to: broker) }
        do throws(BrokerError) {
            report.findings = try await broker.auditRegistry(repair: repair)
            let unregistered = report.findings.map(\.queue).filter { !$0.isEmpty }
            return (QueueList(try await broker.readableQueues() + unregistered), [])
        } catch { return (try await QueueList(of: broker, without: error), []) }
    }

    private func write(_ report: DoctorReport) {
        if options.json { StandardOutput.write(report.json.bytes) } else { report.print() }
    }
}
