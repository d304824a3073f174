import Errand
import ErrandRedis
import Foundation
import Synchronization
import TestSupport

/// Networks that drop the packets of some processes.
extension Scenario {
    static let cutOff = [
        Scenario(
            "F21",
            "one of two workers is cut off for longer than its lease, and reconnects",
            quick: true,
            needs: [.networkNamespaces]
        ) { context in
            for _ in 0..<context.size(quick: 1, full: 10) { try await cutOneOff(context) }
        },
        Scenario(
            "F22",
            "requests arrive, and all replies are lost for 3 s, repeatedly",
            quick: true,
            needs: [.networkNamespaces],
            loseEveryAnswer
        ),
        Scenario(
            "F28",
            "connections die silently while the server restarts",
            quick: true,
            needs: [.networkNamespaces],
            halfOpen
        ),
        Scenario(
            "F30",
            "attempts to connect get no reply",
            quick: true,
            needs: [.networkNamespaces],
            swallowedConnects
        ),
    ]

    private static func cutOneOff(_ context: ScenarioContext) async throws {
        let network = try NetworkNamespace(context)
        let server = try network.server(context, on: ["127.0.0.1", "127.0.0.2"])
        try context.watch(server)
        try server.learnScripts()
        let lonely = try await context.worker {
            $0.url = "redis://\(server.credentials)127.0.0.2:\(server.port)"
            $0.prefix = network.prefix
            // Exactly as many as its slots: with a free slot it would call and learn that its session is lost before it
            // reports.
            $0.concurrency = 3
        }
        let ids = try await context.push(3, "nap") { $0.milliseconds = 2000 }
        try await eventually("all run") { ids.allSatisfy { context.ledger.begun[$0] != nil } }
        let other = try await context.worker {
            $0.url = "redis://\(server.credentials)127.0.0.1:\(server.port)"
            $0.prefix = network.prefix
            $0.concurrency = 3
        }
        let cut = ContinuousClock.now
        try network.drop("-d 127.0.0.2", "-s 127.0.0.2")
        // Within the lease of 2 s, plus 5 s until they begin and 2 s for their runs.
        try await context.recovers("the jobs run to their end elsewhere", within: .seconds(9), since: cut) {
            let there = context.ledger.lines.filter { $0.what == "end" && $0.pid == other.pid }.map(\.id)
            return ids.allSatisfy(there.contains)
        }
        try await eventually("the broker knows it") { try await context.totals()["finished"] >= Int64(ids.count) }
        let before = try await context.totals()
        let refused = context.ledger.refused
        let dropped = try network.dropped
        context.injected(dropped > 0 ? before["recovered"] : 0, or: "\(dropped) packets lost, and no job was recovered")
        // A heartbeat would also tell it first.
        try network.drop("-d 127.0.0.2 -m string --algo bm --string \(ScriptCalls.digest(of: "heartbeat"))")
        try network.pass("-d 127.0.0.2", "-s 127.0.0.2")
        // Its reports belong to a lost session; it then continues with a new one.
        try await context.registered(lonely, times: 2)
        try network.heal()
        context.injected(context.ledger.refused - refused, or: "the worker reported nothing of its old session")
        let after = try await context.totals()
        context.expect(after["finished"] == before["finished"], "a finish of the lost session counted")
        context.expect(context.sessions(of: other).count == 1, "the other worker lost its session")
        try await context.expectEveryoneIsBusy([lonely, other], concurrency: 3)
        try await context.drain()
        try await context.leave()
    }

    private static func loseEveryAnswer(_ context: ScenarioContext) async throws {
        context.rules { $0.forbidsDuplicates = true }
        let network = try NetworkNamespace(context)
        let server = try network.server(context)
        let workers = try await context.workers(2) {
            $0.url = server.tcpURL
            $0.prefix = network.prefix
            $0.lease = 6000
        }
        // The harness is outside the namespace; the proxy loses the replies to its producer.
        let proxy = try context.proxy(server)
        let isLosing = Switch()
        proxy.treat { _ in isLosing.value ? .loseAnswer : .pass }
        let producer = try context.connect(proxy.url, patience: .milliseconds(500))
        let load = context.load(rate: 50, "nap", via: producer) { $0.milliseconds = 50 }
        for _ in 0..<context.size(quick: 2, full: 20) {
            try await context.carries(load, within: .seconds(15))
            isLosing.value = true
            try network.drop("-p tcp --sport \(server.port)")
            try await Task.sleep(for: .seconds(3))
            isLosing.value = false
            context.injected(try network.heal() > 0 ? 1 : 0)
            let healed = ContinuousClock.now
            try await context.carries(load, within: .seconds(15))
            // A worker that reconnects only now and is cut off before its heartbeat would be away for longer than its
            // lease.
            try await context.recovers("every worker beats again", within: .seconds(8), since: healed) {
                let sessions = try await context.console.status(of: ScenarioContext.queue).sessions
                let sinceThen = ContinuousClock.now - healed
                return sessions.count == 2
                    && sessions.allSatisfy { .milliseconds($0.lastBeatMilliseconds) < sinceThen }
            }
        }
        try await load.stop()
        try await context.expectEveryoneIsBusy(workers)
        context.expectInjection(context.accounts.lostAnswers > 0, "no answer of a push was lost")
        context.expect(workers.allSatisfy { context.sessions(of: $0).count == 1 }, "a session was lost")
    }

    private static func halfOpen(_ context: ScenarioContext) async throws {
        let network = try NetworkNamespace(context)
        let server = try network.server(context, ["--appendonly", "yes"])
        let worker = try await context.worker {
            $0.url = server.tcpURL
            $0.prefix = network.prefix
            $0.lease = context.isFull ? 30000 : 4000
            // Waiting for the broker must not count as a blocked task pool.
            if !context.isFull { $0.stuckAfter = 2000 }
        }
        let gate = context.directory + "/never"
        let held = try await context.push(1, "gate") { options in
            options.gate = gate
            options.timeout = .seconds(600)
            options.ends = false
        }
        try await eventually("the job runs") { context.ledger.begun[held[0]] != nil }
        for _ in 0..<context.size(quick: 1, full: 3) {
            try network.drop("-p tcp --sport \(server.port)", "-p tcp --dport \(server.port)")
            server.kill(SIGKILL)
            try server.start()
            try await Task.sleep(for: context.isFull ? .seconds(60) : .seconds(8))
            let dropped = try network.heal()
            // Not even a reset closes the old connections.
            try network.drop("-p tcp --sport \(server.port) --tcp-flags RST RST")
            let healed = ContinuousClock.now
            try await context.recovers("the worker subscribes to wake-ups again", within: .seconds(15), since: healed) {
                try !server.run("PUBSUB", "CHANNELS").isEmpty
            }
            let id = try await context.push(1, "mark")[0]
            try await context.recovers("the worker works again", within: .seconds(15), since: healed) {
                context.ledger.ended[id] != nil
            }
            context.injected(dropped > 0 ? 1 : 0)
        }
        let cancelled = ContinuousClock.now
        _ = try await context.console.cancel(held, on: ScenarioContext.queue)
        try await context.recovers("the job is cancelled", within: .seconds(context.isFull ? 13 : 7), since: cancelled)
        {
            try await context.status().running == 0
        }
        context.expect(worker.isRunning, "the worker ended")
        try network.heal()
    }

    private static func swallowedConnects(_ context: ScenarioContext) async throws {
        let network = try NetworkNamespace(context)
        let server = try network.server(context)
        try network.drop("-p tcp --dport \(server.port) --syn")
        let worker = try await context.worker {
            $0.url = server.tcpURL
            $0.prefix = network.prefix
            $0.waits = false
        }
        let began = ContinuousClock.now
        let producer = try context.command("errand-producer", ["push", "mark", "--redis", server.tcpURL], in: network)
        let status = try await producer.end(within: .seconds(60))
        let took = ContinuousClock.now - began
        context.expect(status == 69, "errand-producer ended with \(status): \(producer.lines.suffix(2))")
        // A connect of 5 s may begin just before the limit of 10 s.
        context.expect(took < .seconds(16.5), "errand-producer took \(took) to give up")
        try await eventually("the worker says that it waits") { worker.lines.contains("waiting") }
        let healed = ContinuousClock.now
        context.injected(try network.heal() > 0 ? 1 : 0)
        let ids = try await context.push(20, "mark")
        try await context.recovers("the worker works", within: .seconds(5), since: healed) {
            ids.allSatisfy { context.ledger.ended[$0] != nil }
        }
        // And for a server that accepts connections and never replies.
        let proxy = try context.proxy(server)
        proxy.cut(true)
        let broker = try context.connect(proxy.url, patience: .seconds(1), commandTimeout: .milliseconds(500))
        let asked = ContinuousClock.now
        do {
            _ = try await Producer(broker: broker).push(envelopes: [try context.job("mark")])
            context.expect(false, "a push into a black hole was answered")
        } catch let error as BrokerError {
            context.expect(error.code == .notReachable, "a push into a black hole failed with \(error)")
        }
        let waited = ContinuousClock.now - asked
        context.expect(waited < .seconds(2.5), "a push into a black hole took \(waited)")
        context.injected()
    }
}

/// A shared value that the scenario changes.
final class Switch: Sendable {
    private let held = Mutex(false)

    /// The value; false to begin with.
    var value: Bool {
        get { held.withLock { $0 } }
        set { held.withLock { $0 = newValue } }
    }
}
