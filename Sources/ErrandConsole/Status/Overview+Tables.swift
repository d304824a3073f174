import Errand
import ErrandCommandLine
import ErrandOperator
import ErrandText

extension Overview {
    /// Prints the overview for people.
    func print() {
        if queues.isEmpty, unreadable.isEmpty, unreachable.isEmpty {
            StandardOutput.write("no queues yet; a queue begins with the first job pushed to it")
        } else {
            queueTable.print()
        }
        StandardOutput.write("")
        if workers.isEmpty { StandardOutput.write("no workers") } else { workerTable.print() }
        guard !servers.isEmpty else { return }
        StandardOutput.write("")
        serverTable.print()
    }

    private var serverTable: TextTable {
        var table = TextTable([("SERVER", .left), ("ROLE", .left), ("STATE", .left), ("QUEUES", .left)])
        for server in servers {
            table.add([
                TextTable.Cell(server.address, atMost: 60),
                TextTable.Cell(server.follows.map { "replica of \($0)" } ?? "master"),
                TextTable.Cell(server.isReachable ? "ok" : "no reply", colour: server.isReachable ? nil : .red),
                TextTable.Cell(server.queues.joined(separator: ", "), atMost: 60),
            ])
        }
        return table
    }

    private var queueTable: TextTable {
        var table = TextTable([
            ("QUEUE", .left), ("READY", .right), ("SCHEDULED", .right), ("RUNNING", .right), ("RETRYING", .right),
            ("DEFERRED", .right), ("DEAD", .right), ("OLDEST", .right), ("PUSHED", .right), ("FINISHED", .right),
            ("FAILED", .right), ("TIMED OUT", .right), ("", .left),
        ])
        for queue in queues {
            table.add([
                TextTable.Cell(queue.name), "\(queue.ready)", "\(queue.scheduled)", "\(queue.executing)",
                "\(queue.retrying)", "\(queue.deferred)",
                TextTable.Cell("\(queue.dead)", colour: queue.dead > 0 ? .red : nil),
                TextTable.Cell(queue.ready > 0 ? TimeSpanText.rounded(queue.oldestReadyMilliseconds) : "-"),
                "\(queue.totals["pushed"])", "\(queue.totals["finished"])", "\(queue.totals["failed"])",
                "\(queue.totals["timed_out"])", TextTable.Cell(queue.isPaused ? "paused" : "", colour: .yellow),
            ])
        }
        return table
    }

    private var workerTable: TextTable {
        var table = TextTable([
            ("WORKER", .left), ("HOST", .left), ("PID", .right), ("RUNNING", .right), ("CONCURRENCY", .right),
            ("LAST BEAT", .right), ("QUEUES", .left),
        ])
        for worker in workers {
            let session = worker.session
            table.add([
                TextTable.Cell(session.id, atMost: 40), TextTable.Cell(session.host, atMost: 40), "\(session.pid)",
                "\(session.executing)", "\(session.concurrency)",
                TextTable.Cell("\(TimeSpanText.rounded(session.lastBeatMilliseconds)) ago"),
                TextTable.Cell(worker.queues.joined(separator: ", "), atMost: 60),
            ])
        }
        return table
    }
}
