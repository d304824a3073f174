import Errand

/// Reports as the exchange script takes them.
///
/// Most reports say that a job just finished. Those that stand beside each other, come from one claim and are alike but for
/// their ids and durations go together, and the script makes one text of their events. Any other report goes by itself.
extension ScriptCall {
    /// The most reports, and bytes of events, that go together: as much as the script can join at little cost.
    private static let most = (reports: 500, bytes: 7_900)

    mutating func add(reports: [OutcomeReport]) {
        let portions = Self.portions(of: reports)
        add(portions.count)
        for portion in portions {
            guard let first = portion.first, first.justFinished else {
                for report in portion { addAlone(report) }
                continue
            }
            addTogether(portion, like: first)
        }
    }

    private static func portions(of reports: [OutcomeReport]) -> [ArraySlice<OutcomeReport>] {
        var portions: [ArraySlice<OutcomeReport>] = []
        var start = reports.startIndex
        var bytes = 0
        for (index, report) in reports.enumerated() where index > start {
            let before = reports[index - 1]
            bytes += before.eventSize
            let joins =
                report.isLike(before) && index - start < most.reports && bytes + report.eventSize <= most.bytes
            if joins { continue }
            portions.append(reports[start..<index])
            start = index
            bytes = 0
        }
        if start < reports.endIndex { portions.append(reports[start...]) }
        return portions
    }

    private mutating func addAlone(_ report: OutcomeReport) {
        add(0)
        add(report.id)
        add(report.token)
        add(report.verb.rawValue)
        add(report.attempt)
        add(report.milliseconds)
        add(report.fragment)
        add(Self.json(report.error))
        add(report.result)
        if let delay = report.retryDelay { add(delay) } else { add("") }
    }

    private mutating func addTogether(_ reports: ArraySlice<OutcomeReport>, like first: OutcomeReport) {
        add(reports.count)
        add(first.token)
        add(first.fragment)
        add(first.attempt)
        for report in reports { add(report.id) }
        for report in reports { add(report.milliseconds) }
    }

    /// A text as JSON, `null` for none.
    private static func json(_ text: String?) -> [UInt8] {
        guard let text else { return Array("null".utf8) }
        var json: [UInt8] = []
        JSONEscaping.append(text, to: &json)
        return json
    }
}

extension OutcomeReport {
    /// Whether there is nothing to say but that the job is done.
    fileprivate var justFinished: Bool { verb == .finished && result.isEmpty && error == nil && fragment.count < 4096 }

    fileprivate func isLike(_ other: OutcomeReport) -> Bool {
        justFinished && other.justFinished && token == other.token && attempt == other.attempt
            && fragment == other.fragment
    }

    /// At least how many bytes its event takes.
    fileprivate var eventSize: Int { fragment.count + id.utf8.count + 200 }
}
