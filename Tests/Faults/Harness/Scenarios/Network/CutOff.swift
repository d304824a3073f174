import Errand
import ErrandRedis
import Foundation
import Synchronization
import TestSupport

/// Networks that swallow packets of some and not of others.
extension Scenario {
    static let cutOff = [
        Scenario(
            "F21",
            "one worker of two is cut off for longer than its lease, and comes back",
            quick: true,
            needs: [.networkNamespaces]
        ) { context in
            for _ in 0..<context.size(quick: 1, full: 10) { try await cutOneOff(context) }
        },
        Scenario(
            "F22",
            "requests arrive, and all answers are lost for 3 s, again and again",
            quick: true,
            needs: [.networkNamespaces],
            loseEveryAnswer
        ),
        Scenario(
            "F28",
            "connections die without a word while the server is started again",
            quick: true,
            needs: [.networkNamespaces],
            halfOpen
        ),
        Scenario(
            "F30",
            "attempts to connect are swallowed",
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
            // No more than it gets: while a slot is free it asks for jobs, and learns that its session is over before it reports.
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
        // Within the lease of 2 s, and 5 s more until they begin; they take 2 s.
        try await context.recovers("the jobs run to their end elsewhere", within: .seconds(9), since: cut) {
            let there = context.ledger.lines.filter { $0.what == "end" && $0.pid == other.pid }.map(\.id)
            return ids.allSatisfy(there.contains)
        }
        try await eventually("the broker knows it") { try await context.totals()["finished"] >= Int64(ids.count) }
        let before = try await context.totals()
        let refused = context.ledger.refused
        let dropped = try network.dropped
        context.injected(dropped > 0 ? before["recovered"] : 0, or: "\(dropped) packets lost, and no job was recovered")
        // From a heartbeat, too, it would learn it first.
        try network.drop("-d 127.0.0.2 -m string --algo bm --string \(ScriptCalls.digest(of: "heartbeat"))")
        try network.pass("-d 127.0.0.2", "-s 127.0.0.2")
        // What it reports is of a session that is gone; then it goes on under a new one.
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
        // The harness is outside the namespace; what its producer hears is lost by the proxy.
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
            // One that connects anew only now may have been about to: cut off again before it has beaten, it is away for longer than its lease.
            try await context.recovers("every worker beats again", within: .seconds(8), since: healed) {
                let sessions = try await context.console.status(of: ScenarioContext.queue).sessions
                let sinceThen = ContinuousClock.now - healed
                return sessions.count == 2
                    && sessions.allSatisfy { .milliseconds($0.lastBeatMilliseconds) < sinceThen }
            }
        }
        try await load.stop()
        try await context.expectEveryoneIsBusy(workers)
        context.expectStrike(context.accounts.lostAnswers > 0, "no answer of a push was lost")
        context.expect(workers.allSatisfy { context.sessions(of: $0).count == 1 }, "a session was lost")
    }

    private static func halfOpen(_ context: ScenarioContext) async throws {
        let network = try NetworkNamespace(context)
        let server = try network.server(context, ["--appendonly", "yes"])
        let worker = try await context.worker {
            $0.url = server.tcpURL
            $0.prefix = network.prefix
            $0.lease = context.isFull ? 30000 : 4000
            // Waiting for the broker is not to be taken for a blocked task pool.
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
            // Not even a reset tells the old connections that nobody is there any more.
            try network.drop("-p tcp --sport \(server.port) --tcp-flags RST RST")
            let healed = ContinuousClock.now
            try await context.recovers("the worker listens for hints again", within: .seconds(15), since: healed) {
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
        // A connect of 5 s may begin just before the 10 s of patience are over.
        context.expect(took < .seconds(16.5), "errand-producer took \(took) to give up")
        try await eventually("the worker says that it waits") { worker.lines.contains("waiting") }
        let healed = ContinuousClock.now
        context.injected(try network.heal() > 0 ? 1 : 0)
        let ids = try await context.push(20, "mark")
        try await context.recovers("the worker works", within: .seconds(5), since: healed) {
            ids.allSatisfy { context.ledger.ended[$0] != nil }
        }
        // And of a server that accepts connections and then says nothing.
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

/// A value that the scenario changes and others see.
final class Switch: Sendable {
    private let held = Mutex(false)

    /// The value; false to begin with.
    var value: Bool {
        get { held.withLock { $0 } }
        set { held.withLock { $0 = newValue } }
    }
}
