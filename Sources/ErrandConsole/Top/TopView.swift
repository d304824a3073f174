import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandText

/// The state and the lines of `errand top`.
struct TopView: Sendable {
    /// An action that waits for confirmation.
    struct Question: Sendable {
        let action: BulkAction
        let queue: String
        let count: Int
    }

    /// The number of failures to keep.
    static let mostFailures = 50

    private(set) var overview = Overview()
    /// The last position of the selected queue in the list.
    private var place = 0
    private var rates: [String: Rates] = [:]
    private var readAt: ContinuousClock.Instant?
    private var failures: [JobEvent] = []
    /// The name of the selected queue. The selection is by name because the list may change at any time.
    private var selectedName: String?
    /// The action in progress, if any.
    var work: String?
    /// The question on the screen, if any.
    var question: Question?
    /// The outcome or error of the last action.
    var message = ""

    /// Replaces the state of the queues and computes their rates.
    mutating func take(_ new: Overview, at now: ContinuousClock.Instant = .now) {
        if let readAt {
            let old = Dictionary(overview.queues.map { ($0.name, $0.totals) }) { $1 }
            for queue in new.queues {
                rates[queue.name] = old[queue.name].map { Rates(from: $0, to: queue.totals, in: now - readAt) }
            }
        }
        (overview, readAt) = (new, now)
        if !new.queues.contains(where: { $0.name == selectedName }) {
            // Select the queue that is now at the last position.
            selectedName = new.queues.isEmpty ? nil : new.queues[min(place, new.queues.count - 1)].name
        }
        place = selected ?? 0
    }

    private var selected: Int? { overview.queues.firstIndex { $0.name == selectedName } }

    /// Adds failures, latest last, and keeps the latest ones. Some may be known already, because failures before a lost
    /// connection are looked up again after it.
    mutating func take(_ failed: [JobEvent]) {
        var known: Set<FailureMark> = []
        let all = (Array(failed.reversed()) + failures).filter { known.insert(FailureMark($0)).inserted }
        let sorted = all.sorted { $0.atMilliseconds ?? 0 > $1.atMilliseconds ?? 0 }
        failures = Array(sorted.prefix(Self.mostFailures))
    }

    /// Moves the selection.
    mutating func select(_ step: Int) {
        guard !overview.queues.isEmpty else { return }
        place = min(max(0, (selected ?? 0) + step), overview.queues.count - 1)
        selectedName = overview.queues[place].name
    }

    /// The selected queue, to which keys apply.
    var selectedQueue: QueueStatus? { selected.map { overview.queues[$0] } }

    /// Returns the lines for a terminal of this size.
    func lines(columns: Int, rows: Int, coloured: Bool = true) -> [String] {
        let queues = queueLines(columns, coloured, atMost: max(3, rows - 12))
        let workers = workerLines(columns, coloured)
        let room = max(0, rows - queues.count - 6)
        let shownWorkers = workers.prefix(max(2, min(workers.count, room / 2)))
        let shownFailures = failureLines(columns, coloured).prefix(max(0, room - shownWorkers.count))
        var lines = [headline, ""] + queues + [""] + shownWorkers + [""] + shownFailures
        lines = Array(lines.prefix(max(0, rows - 1)))
        lines += Array(repeating: "", count: max(0, rows - 1 - lines.count))
        return (lines + [footer]).map { Self.cut($0, columns) }
    }

    private var headline: String {
        let sum = overview.queues.reduce(Rates()) { $0 + (rates[$1.name] ?? Rates()) }
        let running = overview.workers.reduce(0) { $0 + $1.session.executing }
        let slots = overview.workers.reduce(0) { $0 + $1.session.concurrency }
        return Colour.bold.painted("errand top", on: true)
            + "   pushed \(sum.pushed.rateText)/s   finished \(sum.finished.rateText)/s   "
            + "failed \(sum.failed.rateText)/s   \(overview.workers.count.counted("worker")), "
            + "\(running) of \(slots) busy"
    }

    /// Returns the range of queues that fit on the screen, including the selected one.
    private func shownQueues(_ most: Int) -> Range<Int> {
        let count = overview.queues.count
        let first = min(max(0, (selected ?? 0) - most / 2), max(0, count - most))
        return first..<min(count, first + most)
    }

    private func queueLines(_ columns: Int, _ coloured: Bool, atMost most: Int) -> [String] {
        var table = TextTable([
            .left(" "), .left("QUEUE").cut(to: 12), .right("READY"), .right("RUNNING"), .right("RETRYING").dropped(2),
            .right("DEAD"), .right("SCHEDULED").dropped(1), .right("OLDEST").dropped(3), .right("PUSHED/S").dropped(4),
            .right("FINISHED/S"), .right("FAILED/S").dropped(5), .left(""),
        ])
        let shown = shownQueues(most)
        for index in shown {
            let queue = overview.queues[index]
            let rates = rates[queue.name] ?? Rates()
            table.add([
                TextTable.Cell(index == selected ? "›" : " "),
                TextTable.Cell(queue.name, colour: index == selected ? .bold : nil, atMost: 40),
                "\(queue.ready.grouped)", "\(queue.executing.grouped)", "\(queue.retrying.grouped)",
                TextTable.Cell(queue.dead.grouped, colour: queue.dead > 0 ? .red : nil),
                "\(queue.scheduled.grouped)",
                TextTable.Cell(queue.ready > 0 ? TimeSpanText.rounded(queue.oldestReadyMilliseconds) : "-"),
                "\(rates.pushed.rateText)", "\(rates.finished.rateText)",
                TextTable.Cell(rates.failed.rateText, colour: rates.failed > 0 ? .red : nil),
                TextTable.Cell(queue.isPaused ? "paused" : "", colour: .yellow),
            ])
        }
        let hidden = overview.queues.count - shown.count
        let more = hidden > 0 ? [Colour.faint.painted("  \(hidden.counted("more queue"))", on: coloured)] : []
        return table.lines(width: columns, coloured: coloured) + more
    }

    private func workerLines(_ columns: Int, _ coloured: Bool) -> [String] {
        var table = TextTable([
            .left("WORKER").dropped(1), .left("HOST").cut(to: 12), .right("PID"), .right("RUNNING"),
            .left("LAST BEAT"), .left("QUEUES").cut(to: 12),
        ])
        for worker in overview.workers {
            table.add([
                TextTable.Cell(worker.session.id, atMost: 30), TextTable.Cell(worker.session.host, atMost: 30),
                "\(worker.session.pid)", "\(worker.session.executing)/\(worker.session.concurrency)",
                TextTable.Cell(
                    "\(TimeSpanText.rounded(worker.session.lastBeatMilliseconds)) ago"
                        + (worker.isLost ? ", lost" : ""),
                    colour: worker.isLost ? .red : nil
                ),
                TextTable.Cell(worker.queues.joined(separator: ", "), atMost: 40),
            ])
        }
        return table.lines(width: columns, coloured: coloured)
    }

    private func failureLines(_ columns: Int, _ coloured: Bool) -> [String] {
        if failures.isEmpty { return [Colour.faint.painted("no failures", on: coloured)] }
        return failures.map { event in
            let time = event.atMilliseconds.map(Timestamp.text)?.dropFirst(11).prefix(8) ?? "-"
            let job = [event.queue, event.operation, event.name ?? event.id].compactMap { $0 }.joined(separator: " ")
            let text = "\(time)  \(event.event ?? "-")  \(job)  \(event.error ?? "")"
            return Colour.red.painted(text.onOneLine(atMost: columns), on: coloured)
        }
    }

    private var footer: String {
        if let question {
            let jobs = question.count.counted("job")
            return Colour.yellow.painted("\(question.action.rawValue) \(jobs) of \(question.queue)? y/n", on: true)
        }
        if let work { return Colour.yellow.painted(work.onOneLine(), on: true) }
        let keys = "↑↓ select   p pause/resume   r retry dead   c cancel waiting   q quit"
        return message.isEmpty ? Colour.faint.painted(keys, on: true) : message.onOneLine()
    }

    /// Cuts a line to a width; colour codes have none.
    private static func cut(_ line: String, _ columns: Int) -> String {
        var (shown, width, isSteering) = ("", 0, false)
        for character in line {
            if character == "\u{1B}" { isSteering = true }
            if !isSteering {
                if width == columns { return shown + "\u{1B}[0m" }
                width += 1
            }
            shown.append(character)
            if isSteering, character == "m" { isSteering = false }
        }
        return shown
    }
}

/// The identity of a failure.
private struct FailureMark: Hashable {
    let id: String?
    let time: Int64?
    let event: String?

    init(_ event: JobEvent) { (id, time, self.event) = (event.id, event.atMilliseconds, event.event) }
}
