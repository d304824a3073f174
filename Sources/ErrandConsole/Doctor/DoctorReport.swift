import Errand
import ErrandCommandLine
import ErrandOperator

/// What the doctor found.
struct DoctorReport: Sendable {
    var findings: [Finding] = []
    var advice: [Advice] = []

    /// Whether no invariant is broken.
    var isClean: Bool { findings.isEmpty }

    /// The report as programs read it.
    var json: JSONOutput {
        ["clean": .truth(isClean), "findings": .list(findings.map(\.json)), "advice": .list(advice.map(\.json))]
    }

    /// Writes the report for people.
    func print() {
        for finding in findings {
            let word = finding.repaired ? Colour.yellow.painted("repaired") : Colour.red.painted("finding")
            let place = "queue \(finding.queue), \(finding.subject)".onOneLine(atMost: 300)
            StandardOutput.write("\(word)  \(finding.kind.onOneLine()): \(place): \(finding.message.onOneLine())")
        }
        for item in advice {
            let place = item.queue.map { "queue \($0): " } ?? ""
            StandardOutput.write("advice   \(place.onOneLine())\(item.message.onOneLine())")
        }
        StandardOutput.write(isClean ? Colour.green.painted("clean") : findings.count.counted("finding"))
    }
}

extension Finding {
    fileprivate var json: JSONOutput {
        [
            "kind": .text(kind), "queue": .text(queue), "subject": .text(subject), "message": .text(message),
            "repaired": .truth(repaired),
        ]
    }
}

extension Advice {
    fileprivate var json: JSONOutput {
        ["kind": .text(kind), "queue": .text(orNull: queue), "message": .text(message)]
    }
}
