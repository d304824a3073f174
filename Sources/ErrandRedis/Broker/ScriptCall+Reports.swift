import Errand

/// Reports as the exchange script takes them.
///
/// Most reports say that a job just finished. Those that stand beside each other and come from one claim go together: the
/// script looks at their ids only, and puts the time into the text of their events. Any other report goes by itself.
extension ScriptCall {
    /// The most reports, and bytes of events, that go together; what a channel carries at once is limited.
    private static let most = (reports: 500, bytes: 30_000)

    mutating func add(reports: [OutcomeReport], session: String) {
        let portions = Self.portions(of: reports)
        add(portions.count)
        for portion in portions {
            guard let first = portion.first, first.justFinished else {
                for report in portion { addAlone(report) }
                continue
            }
            addTogether(portion, token: first.token, session: session)
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
                report.justFinished && before.justFinished && report.token == before.token
                && index - start < most.reports && bytes + report.eventSize <= most.bytes
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

    /// The events are the ones that the script would write, cut at their times.
    private mutating func addTogether(_ reports: ArraySlice<OutcomeReport>, token: Token, session: String) {
        add(reports.count)
        add(token)
        for report in reports { add(report.id) }
        let middle = Array(#","queue":"\#(queue)","attempt":"#.utf8)
        let end = Array(#","worker":"\#(session)","at_ms":"#.utf8)
        var text: [UInt8] = []
        for report in reports {
            text += Self.start
            text += report.id.utf8
            text += Self.afterID
            text += report.fragment.starts(with: Self.operation) ? report.fragment : Self.nameless
            text += middle
            text.append(decimal: report.attempt)
            text += end
            add(text)
            text.removeAll(keepingCapacity: true)
            text += Self.duration
            text.append(decimal: report.milliseconds)
            text += Self.noError
        }
        // After the last event comes no other one.
        text.removeLast()
        add(text)
    }

    private static let start = Array(#"{"event":"finished","id":""#.utf8)
    private static let afterID = Array(#"","#.utf8)
    private static let operation = Array(#""operation":"#.utf8)
    private static let nameless = Array(#""operation":null,"name":null"#.utf8)
    private static let duration = Array(#","duration_ms":"#.utf8)
    private static let noError = Array(#","error":null}"#.utf8) + [UInt8(ascii: "\n")]

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

    /// At least how many bytes its event takes.
    fileprivate var eventSize: Int { fragment.count + id.utf8.count + 200 }
}

extension [UInt8] {
    fileprivate mutating func append(decimal number: Int) {
        append(contentsOf: String(number).utf8)
    }
}
