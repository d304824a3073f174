import Errand

/// Encodes reports for the exchange script.
///
/// Most reports state only that a job finished. Consecutive ones of the same claim that differ only in ids and
/// durations form a portion, and the script joins their events into one text. Any other report is encoded individually.
extension ScriptCall {
    /// The limits of a portion, which the script can join at little cost.
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
        // Each report is read where it is: a copy of it would retain and release its parts.
        for index in reports.indices.dropFirst() {
            bytes += reports[index - 1].eventSize
            let joins =
                reports[index].isLike(reports[index - 1]) && index - start < most.reports
                && bytes + reports[index].eventSize <= most.bytes
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
        for index in reports.indices { add(reports[index].id) }
        for index in reports.indices { add(reports[index].milliseconds) }
    }

    /// A text as JSON; `null` for `nil`.
    private static func json(_ text: String?) -> [UInt8] {
        guard let text else { return Array("null".utf8) }
        var json: [UInt8] = []
        JSONEscaping.append(text, to: &json)
        return json
    }
}

extension OutcomeReport {
    /// Whether the report states only that the job finished.
    fileprivate var justFinished: Bool { verb == .finished && result.isEmpty && error == nil && fragment.count < 4096 }

    fileprivate func isLike(_ other: OutcomeReport) -> Bool {
        justFinished && other.justFinished && token == other.token && attempt == other.attempt
            && fragment == other.fragment
    }

    /// A lower bound of the size of its event in bytes.
    fileprivate var eventSize: Int { fragment.count + id.utf8.count + 200 }
}
