import Errand
import ErrandOperator
import ErrandText

/// The life of a job: when it was pushed, waited, ran and ended, as far as the broker has kept it.
struct JobTimeline {
    /// A time between two moments.
    struct Span: Equatable {
        enum Kind: String { case waited, ran, failed, running, waiting }

        let kind: Kind
        let milliseconds: Int64
    }

    /// One moment, with the times before it.
    struct Step {
        var spans: [Span] = []
        var words: String
        var time: Int64?
        var error: String?
        /// The equal steps that this one stands for; empty for a single one.
        var parts: [Step] = []
        /// The event, to recognise equal steps.
        var event: String?
        var attempt: Int64?
    }

    private(set) var steps: [Step] = []
    /// The end of the last step; the next one begins there.
    private var last: Int64?
    private let now: Int64

    /// Makes the timeline of a job.
    ///
    /// - Parameters:
    ///   - worker: The session that runs the job, in words.
    ///   - now: The present, in milliseconds since 1970 UTC.
    init(_ job: JobSummary, worker: String?, now: Int64) {
        self.now = now
        if let pushed = job.pushed { add(Step(words: "pushed", time: pushed)) }
        for event in job.record.events.reversed().compactMap(JobEvent.init(line:)) { add(event) }
        addPresent(job, worker)
        collapse()
    }

    private mutating func add(_ step: Step) {
        steps.append(step)
        last = step.time ?? last
    }

    private mutating func add(_ event: JobEvent) {
        let words = Self.words(for: event.event)
        let attempt = event.attempt.map { $0 > 0 ? ", attempt \($0)" : "" } ?? ""
        var step = Step(words: words + attempt, time: event.atMilliseconds, error: event.error)
        (step.event, step.attempt) = (event.event, event.attempt)
        if let end = event.atMilliseconds {
            let took = max(0, event.durationMilliseconds ?? 0)
            let begin = end.subtractingReportingOverflow(took).partialValue
            step.spans = wait(until: begin)
            if took > 0 { step.spans.append(Span(kind: event.kind == .finished ? .ran : .failed, milliseconds: took)) }
        }
        add(step)
    }

    private static func words(for event: String?) -> String {
        switch event {
        case "recovered": "recovered from a lost worker"
        default: (event ?? "ended").replacing("_", with: " ")
        }
    }

    /// Returns the time that passed without a run before a moment.
    private func wait(until time: Int64, _ kind: Span.Kind = .waited) -> [Span] {
        guard let last else { return [] }
        let (length, overflow) = time.subtractingReportingOverflow(last)
        return !overflow && length > 0 ? [Span(kind: kind, milliseconds: length)] : []
    }

    private mutating func addPresent(_ job: JobSummary, _ worker: String?) {
        switch job.record.state {
        case .running: addRun(since: job.record.claimedAt, worker)
        case .ready: add(Step(spans: wait(until: now, .waiting), words: "ready, waits for a worker", time: nil))
        case .scheduled, .retrying: add(Step(words: "due", time: job.record.at))
        case .deferred: add(Step(spans: wait(until: now, .waiting), words: "waits for the job that holds its name"))
        case .blocked: add(Step(spans: wait(until: now, .waiting), words: "waits for jobs of its workflow"))
        case .dead, .finished, .cancelled, .replaced, .expired, .skipped, .deleted: addEnd(job)
        }
    }

    private mutating func addRun(since claimed: Int64?, _ worker: String?) {
        guard let claimed else { return add(Step(words: "running on \(worker ?? "a worker")")) }
        add(Step(spans: wait(until: claimed), words: "started on \(worker ?? "a worker")", time: claimed))
        add(Step(spans: wait(until: now, .running), words: "still running"))
    }

    /// Adds the end of a job whose last event does not have it, such as one that was dead and is not kept as an event.
    private mutating func addEnd(_ job: JobSummary) {
        guard let at = job.record.at, last.map({ $0 < at }) ?? true else { return }
        add(
            Step(
                spans: wait(until: at),
                words: job.record.state == .dead ? "dead" : job.record.state.rawValue,
                time: at
            )
        )
    }

    /// Puts consecutive runs that failed with the same error together, also with the one after which the job was dead.
    private mutating func collapse() {
        var collapsed: [Step] = []
        for step in steps {
            guard step.error != nil, let previous = collapsed.last, previous.error == step.error,
                previous.event == step.event || (previous.event == "failed" && step.event == "dead")
            else {
                collapsed.append(step)
                continue
            }
            collapsed[collapsed.count - 1] = Self.join(previous, step)
        }
        steps = collapsed
    }

    private static func join(_ first: Step, _ next: Step) -> Step {
        var joined = first
        joined.parts = (first.parts.isEmpty ? [first] : first.parts) + [next]
        let event = words(for: first.event)
        let attempts = joined.parts.compactMap(\.attempt)
        let range = attempts.first.flatMap { low in attempts.last.map { ", attempts \(low) to \($0)" } } ?? ""
        let end = next.event == first.event ? "" : "; then it was dead"
        joined.words = "\(event) \(joined.parts.count) times\(range)\(end)"
        joined.spans = sums(of: joined.parts.flatMap(\.spans))
        joined.time = next.time
        return joined
    }

    private static func sums(of spans: [Span]) -> [Span] {
        var sums: [Span] = []
        for span in spans {
            if let index = sums.firstIndex(where: { $0.kind == span.kind }) {
                let sum = sums[index].milliseconds.addingReportingOverflow(span.milliseconds).partialValue
                sums[index] = Span(kind: span.kind, milliseconds: sum)
            } else {
                sums.append(span)
            }
        }
        return sums
    }
}
