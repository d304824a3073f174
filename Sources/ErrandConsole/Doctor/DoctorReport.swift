import Errand
import ErrandCommandLine
import ErrandOperator

/// The doctor's findings and advice.
struct DoctorReport: Sendable {
    var findings: [Finding] = []
    var advice: [Advice] = []
    /// The reason why the examination stopped; earlier findings and repairs are in the report.
    private(set) var problem: BrokerError?
    /// The reason why nothing was repaired despite the request.
    var repairRefusal: BrokerError?

    /// The servers of a cluster that do not reply.
    var unreachable: [String] = []
    /// Those queues that are on these servers, as far as they are known.
    var unexamined: [String] = []
    /// Queues that cannot be served, while their servers reply.
    var stuck: [UnreadablePlace] = []
    /// Why there may be more of them: the list of queues cannot be read either.
    var listProblem: BrokerError?

    /// Whether everything was examined and no invariant is broken.
    var isClean: Bool { findings.isEmpty && problem == nil && gap == nil }

    /// The failure of an unfinished examination, or of a repair that did not start.
    var failure: CommandFailure? {
        trouble.map { words, error in
            let failure = CommandFailure(error)
            return CommandFailure("\(words): \(failure.message)", failure.status)
        }
    }

    /// The reason why the examination is incomplete, or why findings were not repaired.
    private var trouble: (words: String, error: BrokerError)? {
        if let problem { return ("the examination was not finished", problem) }
        if let gap { return ("not everything was examined", gap) }
        return findings.isEmpty ? nil : repairRefusal.map { ("nothing was repaired", $0) }
    }

    /// Why only the servers that reply were examined.
    private var gap: BrokerError? {
        guard !unreachable.isEmpty else {
            return stuck.isEmpty ? nil : BrokerError(.notReachable, stuck.map(\.description).joined(separator: "; "))
        }
        let reason = "no reply from \(unreachable.joined(separator: ", "))"
        if let listProblem { return BrokerError(.notReachable, "\(reason): \(listProblem.message)") }
        let queues = unexamined.isEmpty ? "where no queue is" : "with \(unexamined.joined(separator: ", "))"
        return BrokerError(.notReachable, "\(reason), \(queues)")
    }

    /// Examines a part. If that fails, the report keeps its contents and records the problem.
    mutating func examine(_ part: (inout DoctorReport) async throws(BrokerError) -> Void) async {
        // Do not wait again for a broker that is not reachable.
        if problem?.code == .notReachable { return }
        do throws(BrokerError) { try await part(&self) } catch { problem = problem ?? error }
    }

    /// The report as JSON for programs.
    var json: JSONOutput {
        var members: [(key: String, value: JSONOutput)] = [
            ("clean", .truth(isClean)), ("findings", .list(findings.map(\.json))),
            ("advice", .list(advice.map(\.json))), ("problem", .text(orNull: trouble?.error.message)),
        ]
        if !unreachable.isEmpty { members.append(("unreachable", .list(unreachable.map(JSONOutput.text)))) }
        if !unreachable.isEmpty || !stuck.isEmpty {
            let missing = (unexamined + stuck.map(\.queue)).sorted()
            members.append(("unexamined", .list(missing.map(JSONOutput.text))))
        }
        return .object(members)
    }

    /// Prints the report for people.
    func print() {
        for finding in findings {
            let word = finding.repaired ? Colour.yellow.painted("repaired") : Colour.red.painted("finding")
            let queue = finding.queue.isEmpty ? "" : "queue \(finding.queue), "
            let place = "\(queue)\(finding.subject)".onOneLine(atMost: 300)
            StandardOutput.write("\(word)  \(finding.kind.onOneLine()): \(place): \(finding.message.onOneLine())")
        }
        for item in advice {
            let place = item.queue.map { "queue \($0): " } ?? ""
            StandardOutput.write("advice   \(place.onOneLine())\(item.message.onOneLine())")
        }
        StandardOutput.write(summary)
    }

    /// The last line for people: `data clean, 3 pieces of advice`.
    private var summary: String {
        let count = findings.count.counted("finding")
        let data = problem == nil && gap == nil ? count : "\(count) so far"
        let pieces = advice.count == 1 ? "1 piece of advice" : "\(advice.count.grouped) pieces of advice"
        return (isClean ? Colour.green.painted("data clean") : data) + ", \(advice.isEmpty ? "no advice" : pieces)"
    }
}

extension Finding {
    fileprivate var json: JSONOutput {
        [
            "kind": .text(kind), "queue": .text(orNull: queue.isEmpty ? nil : queue), "subject": .text(subject),
            "message": .text(message),
            "repaired": .truth(repaired),
        ]
    }
}

extension Advice {
    fileprivate var json: JSONOutput {
        ["kind": .text(kind), "queue": .text(orNull: queue), "message": .text(message)]
    }
}
