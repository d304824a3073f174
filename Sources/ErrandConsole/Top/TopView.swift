import Errand
import ErrandCommandLine
import ErrandOperator

/// What `errand top` knows and shows.
struct TopView: Sendable {
    /// Something that asks to be confirmed.
    struct Question: Sendable {
        let action: BulkAction
        let queue: String
        let count: Int
    }

    private(set) var overview = Overview()
    private var rates: [String: Rates] = [:]
    private var readAt: ContinuousClock.Instant?
    private var failures: [JobEvent] = []
    private var selected = 0
    /// What is asked at the moment.
    var question: Question?
    /// What became of the last action, or went wrong.
    var message = ""

    /// Takes a new state of the queues in.
    mutating func take(_ new: Overview, at now: ContinuousClock.Instant = .now) {
        if let readAt {
            let old = Dictionary(overview.queues.map { ($0.name, $0.totals) }) { $1 }
            for queue in new.queues {
                rates[queue.name] = old[queue.name].map { Rates(from: $0, to: queue.totals, in: now - readAt) }
            }
        }
        (overview, readAt) = (new, now)
        selected = min(selected, max(0, new.queues.count - 1))
    }

    /// Takes failures in; the latest stay.
    mutating func take(_ failed: [JobEvent]) {
        failures = Array((failed.reversed() + failures).prefix(50))
    }

    /// Moves the selection.
    mutating func select(_ step: Int) {
        selected = min(max(0, selected + step), max(0, overview.queues.count - 1))
    }

    /// The queue that is meant by what is pressed.
    var selectedQueue: QueueStatus? {
        overview.queues.indices.contains(selected) ? overview.queues[selected] : nil
    }

    /// The lines for a terminal of this size.
    func lines(columns: Int, rows: Int, coloured: Bool = true) -> [String] {
        let queues = queueLines(coloured)
        let workers = workerLines(coloured)
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
        let running = overview.workers.reduce(0) { $0 + $1.session.running }
        let slots = overview.workers.reduce(0) { $0 + $1.session.concurrency }
        return Colour.bold.painted("errand top", on: true)
            + "   pushed \(sum.pushed.rateText)/s   finished \(sum.finished.rateText)/s   "
            + "failed \(sum.failed.rateText)/s   \(overview.workers.count.counted("worker")), "
            + "\(running) of \(slots) busy"
    }

    private func queueLines(_ coloured: Bool) -> [String] {
        var table = TextTable([
            (" ", .left), ("QUEUE", .left), ("READY", .right), ("SCHEDULED", .right), ("RUNNING", .right),
            ("RETRYING", .right), ("DEAD", .right), ("OLDEST", .right), ("PUSHED/S", .right), ("FINISHED/S", .right),
            ("FAILED/S", .right), ("", .left),
        ])
        for (index, queue) in overview.queues.enumerated() {
            let rates = rates[queue.name] ?? Rates()
            table.add([
                TextTable.Cell(index == selected ? "›" : " "),
                TextTable.Cell(queue.name, colour: index == selected ? .bold : nil, atMost: 40),
                "\(queue.ready.grouped)", "\(queue.scheduled.grouped)", "\(queue.running.grouped)",
                "\(queue.retrying.grouped)",
                TextTable.Cell(queue.dead.grouped, colour: queue.dead > 0 ? .red : nil),
                TextTable.Cell(queue.ready > 0 ? Timestamp.span(queue.oldestReadyMilliseconds) : "-"),
                "\(rates.pushed.rateText)", "\(rates.finished.rateText)",
                TextTable.Cell(rates.failed.rateText, colour: rates.failed > 0 ? .red : nil),
                TextTable.Cell(queue.isPaused ? "paused" : "", colour: .yellow),
            ])
        }
        return table.lines(coloured: coloured)
    }

    private func workerLines(_ coloured: Bool) -> [String] {
        var table = TextTable([
            ("WORKER", .left), ("HOST", .left), ("PID", .right), ("RUNNING", .right), ("LAST BEAT", .right),
            ("QUEUES", .left),
        ])
        for worker in overview.workers {
            table.add([
                TextTable.Cell(worker.session.id, atMost: 30), TextTable.Cell(worker.session.host, atMost: 30),
                "\(worker.session.pid)", "\(worker.session.running)/\(worker.session.concurrency)",
                TextTable.Cell("\(Timestamp.span(worker.session.lastBeatMilliseconds)) ago"),
                TextTable.Cell(worker.queues.joined(separator: ", "), atMost: 40),
            ])
        }
        return table.lines(coloured: coloured)
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
        let keys = "↑↓ select   p pause/resume   r retry dead   c cancel waiting   q quit"
        return message.isEmpty ? Colour.faint.painted(keys, on: true) : message.onOneLine()
    }

    /// Cuts a line to a width; what steers colours has none.
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
