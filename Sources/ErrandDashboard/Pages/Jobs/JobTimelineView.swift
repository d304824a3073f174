import ErrandOperator
import ErrandText

/// The values of a timeline for its template: a bar with all times, and a list of the moments.
struct JobTimelineView {
    private static let width = 1000.0
    /// The least width of a time in the bar, so that a short run beside a long wait is visible.
    private static let least = 6.0
    private static let shownOfError = 16_384

    let timeline: JobTimeline
    let moments: MomentView

    var steps: [[String: Any]] { timeline.steps.map(values) }

    private func values(of step: JobTimeline.Step) -> [String: Any] {
        [
            "words": step.words, "times": step.time.map { [moments.exact($0)] } ?? [],
            "spans": step.spans.map(Self.words), "isBad": step.error != nil,
            "details": step.error.map { [["text": $0.shortened(to: Self.shownOfError)]] } ?? [],
            "parts": step.parts.isEmpty ? [] : [["steps": step.parts.map(part)]],
        ]
    }

    /// Returns the values of one of several equal steps; they share the error.
    private func part(of step: JobTimeline.Step) -> [String: Any] {
        var values = values(of: step)
        values["details"] = [[String: Any]]()
        return values
    }

    private static func words(of span: JobTimeline.Span) -> [String: Any] {
        let length = TimeSpanText.rounded(span.milliseconds)
        let words =
            switch span.kind {
            case .waited: "waited \(length)"
            case .ran, .failed: "ran \(length)"
            case .running: "running for \(length)"
            case .waiting: "waiting for \(length)"
            }
        return ["kind": span.kind.rawValue, "words": words]
    }

    /// The parts of the bar: where each begins, how wide it is, and its kind. Empty if nothing took any time.
    var bar: [[String: Any]] {
        let spans = timeline.steps.flatMap { $0.parts.isEmpty ? $0.spans : $0.parts.flatMap(\.spans) }
        let total = spans.reduce(0) { $0 + Double($1.milliseconds) }
        guard total > 0 else { return [] }
        let widths = spans.map { max(Self.least, Double($0.milliseconds) / total * Self.width) }
        let scale = Self.width / widths.reduce(0, +)
        var begin = 0.0
        return zip(spans, widths).map { span, width in
            defer { begin += width * scale }
            return ["x": Self.digits(begin), "width": Self.digits(width * scale), "kind": span.kind.rawValue]
        }
    }

    /// Returns a number with one decimal. It is at most 1000.
    private static func digits(_ number: Double) -> String {
        let tenths = Int((min(max(number, 0), width) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
    }
}
