import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Workflows while workers and the server are killed. The server's own sequence of events is the judge.
extension Scenario {
    static let workflows = [
        Scenario("F100", "workflows end while workers and the server are killed", quick: true, limit: .seconds(900)) {
            context in
            try await workflows(context, queues: [ScenarioContext.queue])
        },
        Scenario("F101", "the same with jobs in two queues", quick: true, limit: .seconds(900)) { context in
            try await workflows(context, queues: [ScenarioContext.queue, "other"])
        },
    ]

    private static func workflows(_ context: ScenarioContext, queues: [String]) async throws {
        context.rules { rules in
            // The headers of workflows are kept for a day.
            rules.toleratedKeys += ["workflow", "members:", "numbers:", "keys:", "ends:", "hops:", "stream", "cursors"]
        }
        let server = try context.server(tcp: true, ["--appendonly", "yes", "--appendfsync", "always"])
        for queue in queues {
            try await context.console.createQueue(queue)
            let settings = QueueSettings(publishesStarts: !context.isFull, keptEvents: 1_000_000)
            try await context.console.configure(queue, settings)
        }
        let workers = try await WorkerGroup(context, 3) { worker in
            worker.url = server.tcpURL
            worker.queues = queues
            worker.concurrency = 8
        }
        async let pushed = push(context, to: server, queues)
        for round in 0..<context.size(quick: 6, full: 300) {
            try await Task.sleep(for: .milliseconds(context.random(300...1200)))
            await workers.killOne()
            // At full size the server loads for several seconds.
            let every = context.size(quick: 3, full: 10)
            if round % every == every - 1 {
                server.kill(SIGKILL)
                try await Task.sleep(for: .milliseconds(context.random(0...300)))
                try server.start(within: .seconds(180))
            }
            context.injected()
        }
        let flows = try await pushed
        try await context.awaitEnds(of: flows)
        await workers.dismiss()
        var recovered = 0
        for queue in queues { recovered += try await context.totals(of: queue)["recovered"] }
        context.expectInjection(recovered > 0, "no kill reached a job")
        try await context.judge(flows, queues)
    }

    private static func push(
        _ context: ScenarioContext,
        to server: RedisServer,
        _ queues: [String]
    ) async throws -> [PushedFlow] {
        try await withThrowingTaskGroup(of: [PushedFlow].self) { group in
            let share = context.size(quick: 10, full: 2500)
            for _ in 0..<4 {
                group.addTask {
                    let producer = Producer(broker: try context.connect(server.tcpURL, patience: .milliseconds(200)))
                    var flows: [PushedFlow] = []
                    for _ in 0..<share { flows.append(try await push(context, through: producer, queues)) }
                    return flows
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    /// Pushes one workflow, and repeats the push until its outcome is known.
    private static func push(
        _ context: ScenarioContext,
        through producer: Producer,
        _ queues: [String]
    ) async throws -> PushedFlow {
        let description = try makeWorkflow(context, queues)
        // With an id of its own, a repeated push continues the first one, even if that has thrown.
        let characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
        let token = String((0..<16).compactMap { _ in characters.randomElement() })
        let id = WorkflowID(queue: queues[0], token: token)
        while true {
            var receipt: WorkflowReceipt?
            do { receipt = try await producer.push(description, id: id) } catch let error as BrokerError {
                guard [.notReachable, .outcomeUnknown].contains(error.code) else { throw error }
            }
            if let receipt, receipt.outcome != .unknown {
                for job in receipt.jobs.values { context.accounts.adopt(job) }
                return PushedFlow(id: receipt.workflow, jobs: receipt.jobs, after: description.needs)
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// Makes a workflow of several layers. Each job comes after some of the layer before, and the last after all.
    private static func makeWorkflow(_ context: ScenarioContext, _ queues: [String]) throws -> WorkflowDescription {
        let (layers, width) = (context.size(quick: 3, full: 7), context.size(quick: 4, full: 7))
        var jobs: [WorkflowDescription.Job] = []
        for layer in 0..<layers {
            for number in 0..<width {
                let needs = (0..<width).filter { _ in layer > 0 && Bool.random() }.map { "\(layer - 1).\($0)" }
                let operation = Int.random(in: 0..<8) == 0 ? "failonce" : "nap"
                jobs.append(
                    WorkflowDescription.Job(
                        "\(layer).\(number)",
                        try OperationDescription(
                            operation,
                            encoding: ["ms": context.size(quick: 20, full: 5)],
                            queue: queues.randomElement(),
                            retries: 3
                        ),
                        after: needs
                    )
                )
            }
        }
        let join = try OperationDescription("nap", encoding: ["ms": 1], queue: queues[0], retries: 3)
        jobs.append(WorkflowDescription.Job("join", join, after: jobs.map(\.key)))
        return try WorkflowDescription("storm", queue: queues[0], jobs: jobs)
    }
}

/// A workflow that a scenario has pushed.
private struct PushedFlow: Sendable {
    let id: String
    /// The ids of its jobs by their keys.
    let jobs: [String: String]
    /// The keys of what each job comes after, by its key.
    let after: [String: [String]]
}

extension WorkflowDescription {
    fileprivate var needs: [String: [String]] {
        Dictionary(jobs.map { ($0.key, $0.after) }) { first, _ in first }
    }
}

extension ScenarioContext {
    /// Waits until all workflows have finished.
    fileprivate func awaitEnds(of flows: [PushedFlow]) async throws {
        let end = ContinuousClock.now + .seconds(size(quick: 60, full: 1800))
        var left = flows
        while !left.isEmpty {
            var running: [PushedFlow] = []
            for flow in left {
                guard let id = WorkflowID(flow.id) else { continue }
                let record = try await insist { try await console.workflow(id) }
                if record?.state != .finished { running.append(flow) }
            }
            left = running
            guard ContinuousClock.now < end else {
                return expect(false, "\(left.count) workflows have not finished, such as \(left.first?.id ?? "")")
            }
            if !left.isEmpty { try await Task.sleep(for: .milliseconds(200)) }
        }
    }

    /// Checks that each job has finished once, that none has started or finished before all that it comes after had, and
    /// that each workflow was said to have finished once.
    fileprivate func judge(_ flows: [PushedFlow], _ queues: [String]) async throws {
        var needs: [String: [String]] = [:]
        for flow in flows {
            for (key, id) in flow.jobs { needs[id] = (flow.after[key] ?? []).compactMap { flow.jobs[$0] } }
        }
        var finished: [String: Int64] = [:]
        var ends: [String: Int] = [:]
        var events: [JobEvent] = []
        for queue in queues { events += try await keptEvents(of: queue) }
        // Events of one queue are compared by their order, those of several by the server's time, ends first.
        if queues.count > 1 {
            func order(_ event: JobEvent) -> (Int64, Int) {
                (event.atMilliseconds ?? 0, event.event == "started" ? 1 : 0)
            }
            events.sort { order($0) < order($1) }
        }
        for event in events {
            guard let id = event.id else { continue }
            if event.event == "workflow_finished" { ends[id, default: 0] += 1 }
            guard let own = needs[id], event.event == "started" || event.event == "finished" else { continue }
            let early = own.first { finished[$0] == nil }
            expect(early == nil, "\(id) has \(event.event ?? "") before \(early ?? "")")
            if event.event == "finished" {
                expect(finished[id] == nil, "\(id) has finished twice")
                finished[id] = event.atMilliseconds ?? 0
            } else {
                // A run may begin and end within one millisecond, which is all that the time of several queues tells.
                let isOfOneMoment = queues.count > 1 && finished[id] == event.atMilliseconds ?? 0
                expect(finished[id] == nil || isOfOneMoment, "\(id) was started after its end")
            }
        }
        expect(finished.count == needs.count, "\(finished.count) of \(needs.count) jobs have finished")
        let wrong = flows.filter { ends[$0.id] != 1 }
        expect(
            wrong.isEmpty,
            "\(wrong.count) workflows were not said to have finished once, such as \(wrong.first?.id ?? "")"
        )
    }
}
