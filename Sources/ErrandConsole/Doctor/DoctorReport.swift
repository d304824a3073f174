import Errand
import ErrandCommandLine
import ErrandOperator

/// The doctor's findings and advice.
struct DoctorReport: Sendable {
    var findings: [Finding] = []
    var advice: [Advice] = []
    /// The reason why the examination was not finished; earlier findings and repairs are in the report.
    private(set) var problem: BrokerError?
    /// The reason why nothing was repaired despite the request.
    var repairRefusal: BrokerError?

    /// The servers of a cluster that do not reply, whose queues were not examined.
    var unreachable: [String] = []

    /// Whether everything was examined and no invariant is broken.
    var isClean: Bool { findings.isEmpty && problem == nil }

    /// The failure of an unfinished examination, or of a repair that did not start.
    var failure: CommandFailure? {
        guard let trouble else { return nil }
        let failure = CommandFailure(trouble)
        let words = problem == nil ? "nothing was repaired" : "the examination was not finished"
        return CommandFailure("\(words): \(failure.message)", failure.status)
    }

    /// The reason why the examination is incomplete, or why findings were not repaired.
    private var trouble: BrokerError? { problem ?? (findings.isEmpty ? nil : repairRefusal) }

    /// Examines a part. If that fails, the report keeps its contents and records the problem.
    mutating func examine(_ part: (inout DoctorReport) async throws(BrokerError) -> Void) async {
        // Do not wait again for a broker that is not reachable.
        if problem?.code == .notReachable { return }
        do throws(BrokerError) { try await part(&self) } catch { problem = problem ?? error }
    }

    /// Records the problem of servers that do not reply, once the queues of the others were examined.
    mutating func noteUnreachable() {
        guard !unreachable.isEmpty, problem == nil else { return }
        problem = BrokerError(.notReachable, "no reply from \(unreachable.joined(separator: ", "))")
    }

    /// The report as JSON for programs.
    var json: JSONOutput {
        var members: [(key: String, value: JSONOutput)] = [
            ("clean", .truth(isClean)), ("findings", .list(findings.map(\.json))),
            ("advice", .list(advice.map(\.json))), ("problem", .text(orNull: trouble?.message)),
        ]
        if !unreachable.isEmpty { members.append(("unreachable", .list(unreachable.map(JSONOutput.text)))) }
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
        let word = problem == nil ? findings.count.counted("finding") : "\(findings.count.counted("finding")) so far"
        StandardOutput.write(isClean ? Colour.green.painted("clean") : word)
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
