import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandText

/// The tables of `errand status`.
struct StatusTables {
    let overview: Overview
    let style: ListStyle
    var queueOrder: QueueOrder?
    var workerOrder = WorkerOrder.host

    /// Prints the tables.
    func print() {
        if overview.queues.isEmpty, overview.unreadable.isEmpty, overview.unreachable.isEmpty {
            StandardOutput.write("no queues yet; a queue begins with the first job pushed to it")
        } else {
            queueTable.print(width: style.width)
        }
        StandardOutput.write("")
        if overview.workers.isEmpty {
            StandardOutput.write("no workers")
        } else {
            workerTable.print(width: style.width)
        }
        guard !overview.servers.isEmpty else { return }
        StandardOutput.write("")
        serverTable.print(width: style.width)
    }

    private var serverTable: TextTable {
        var table = TextTable([.left("SERVER"), .left("ROLE").cut(to: 12), .left("STATE"), .left("QUEUES").cut(to: 12)])
        for server in overview.servers {
            table.add([
                TextTable.Cell(server.address, atMost: 60),
                TextTable.Cell(server.follows.map { "replica of \($0)" } ?? "master"),
                TextTable.Cell(server.isReachable ? "ok" : "no reply", colour: server.isReachable ? nil : .red),
                TextTable.Cell(server.queues.joined(separator: ", "), atMost: style.mostCharacters),
            ])
        }
        return table
    }

    private var queueTable: TextTable {
        var table = TextTable([
            .left("QUEUE").cut(to: 12), .right("READY"), .right("RUNNING"), .right("RETRYING").optional,
            .right("DEAD"), .right("SCHEDULED").optional.dropped(6), .right("DEFERRED").optional.dropped(4),
            .right("BLOCKED").optional.dropped(4), .right("OLDEST").optional, .right("PUSHED").dropped(2),
            .right("FINISHED").dropped(3), .right("FAILED").optional.dropped(5),
            .right("TIMED OUT").optional.dropped(1), .left("").optional,
        ])
        for queue in queueOrder?.sorted(overview.queues) ?? overview.queues { table.add(row(of: queue)) }
        return table
    }

    private func row(of queue: QueueStatus) -> [TextTable.Cell] {
        [
            TextTable.Cell(queue.name), number(queue.ready), number(queue.executing), number(queue.retrying),
            number(queue.dead, colour: queue.dead > 0 ? .red : nil), number(queue.scheduled), number(queue.deferred),
            number(queue.blocked),
            TextTable.Cell(queue.ready > 0 ? style.age(queue.oldestReadyMilliseconds) : "-"),
            number(queue.totals["pushed"]), number(queue.totals["finished"]), number(queue.totals["failed"]),
            number(queue.totals["timed_out"]), TextTable.Cell(queue.isPaused ? "paused" : "", colour: .yellow),
        ]
    }

    private func number(_ number: Int, colour: Colour? = nil) -> TextTable.Cell {
        TextTable.Cell(style.isFull ? "\(number)" : number.grouped, colour: colour)
    }

    private var workerTable: TextTable {
        let short = ShortIDs(of: overview.workers.map(\.session.id))
        var table = TextTable([
            .left("WORKER"), .left("HOST").cut(to: 12), .right("PID").dropped(2),
            .right("RUNNING"), .right("CONCURRENCY").dropped(1), .left("LAST BEAT"), .left("").optional,
            .left("QUEUES").cut(to: 12),
        ])
        for worker in workerOrder.sorted(overview.workers) {
            let session = worker.session
            table.add([
                TextTable.Cell(style.isFull ? session.id : short.text(of: session.id), atMost: 40),
                TextTable.Cell(session.host, atMost: 40), "\(session.pid)",
                "\(session.executing)", "\(session.concurrency)",
                TextTable.Cell("\(style.age(session.lastBeatMilliseconds)) ago", colour: worker.isLost ? .red : nil),
                TextTable.Cell(worker.isLost ? "lost" : "", colour: .red),
                TextTable.Cell(worker.queues.joined(separator: ", "), atMost: style.mostCharacters),
            ])
        }
        return table
    }
}

extension ListStyle {
    /// Formats an age in milliseconds.
    fileprivate func age(_ milliseconds: Int) -> String {
        isFull ? TimeSpanText.rounded(milliseconds) : TimeSpanText.brief(Int64(milliseconds))
    }
}
