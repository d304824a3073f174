import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Messages on channels may be lost, and nothing may depend on them.
extension Scenario {
    static let channels = [
        Scenario("F77", "no message on a channel arrives: the server refuses every subscription", quick: true) {
            context in
            let server = try context.server(rules: "-subscribe -psubscribe")
            try await context.workers(2)
            try await eventually("they may not listen") { try server.rejections(of: "subscribe") >= 2 }
            let ids = try await context.push(50, "mark")
            try await context.recovers("workers find work by looking", within: .seconds(10)) {
                ids.allSatisfy { context.ledger.ended[$0] != nil }
            }
            // The heartbeat reports a cancelled job within a quarter of the lease and a second.
            let long = try await context.push(1, "nap") {
                $0.milliseconds = 30_000
                $0.timeout = .seconds(60)
                $0.ends = false
            }
            try await eventually("it runs") { context.ledger.begun[long[0]] != nil }
            let asked = ContinuousClock.now
            let verdict = try await context.console.cancel(long, on: ScenarioContext.queue)
            context.expect(verdict == [.stopping], "cancelling said \(verdict)")
            try await context.recovers("it is cancelled", within: .seconds(1.5), since: asked) {
                try await context.console.inspect(long, on: ScenarioContext.queue)[0]?.state == .cancelled
            }
            // A caller that waits for the end of a job finds it by polling.
            let arguments = [
                "push", "mark", "--queue", ScenarioContext.queue, "--wait=20s", "--redis", server.url, "--json",
            ]
            let waiting = try context.program("errand-producer", arguments)
            let status = try await waiting.end(within: .seconds(25))
            context.expect(status == 0, "waiting for a job ended with \(status): \(waiting.lines)")
            for line in context.ledger.lines { context.accounts.adopt(line.id) }
            let refused = try server.rejections(of: "subscribe")
            let taken = try server.calls("subscribe") + server.calls("psubscribe")
            let sent = try server.calls("publish")
            context.injected(
                taken == 0 && sent > 0 ? refused : 0,
                or: "\(sent) messages were sent, and of the subscriptions \(taken) were taken and \(refused) refused"
            )
        },
        Scenario("F78", "a subscriber stops reading while events pour in", limit: .seconds(300)) { context in
            let server = try context.server(["--client-output-buffer-limit", "pubsub", "2mb", "1mb", "5"])
            let listener = try context.program("errand", ["events", "--json", "--redis", server.url])
            try await eventually("it listens") {
                try server.run("PUBSUB", "NUMPAT") != "0" || server.calls("psubscribe") > 0
            }
            listener.signal(SIGSTOP)
            let before = try subscribers(server)
            try await context.workers(2) { $0.concurrency = 32 }
            let count = context.size(quick: 20_000, full: 300_000)
            async let pushed = context.push(count, "mark")
            var most = 0
            try await eventually("the jobs are done", within: .seconds(240)) {
                most = max(most, try heldBack(server))
                return context.ledger.counts.ended == count
            }
            _ = try await pushed
            let cut = try before.subtracting(subscribers(server)).count
            context.injected(cut)
            let memory = try server.count("used_memory_peak", in: "memory")
            context.note(
                "disconnected \(cut) times; the server kept up to \(most >> 10) KB for it, of \(memory >> 20) MB at most"
            )
            context.expect(most <= 3 << 20, "the server kept \(most) bytes for who reads nothing")
            let bound = context.size(quick: 16, full: 64)
            context.expect(memory <= bound << 20, "the server used \(memory >> 20) MB while events poured in")
            listener.signal(SIGCONT)
            // It still reads what its socket contained; only these it can have received on a new connection.
            var later: [String] = []
            try await context.recovers("it hears events again", within: .seconds(20)) {
                later += try await context.push(1, "mark")
                let ends = listener.lines.suffix(200).filter { $0.contains("finished") }
                return ends.contains { line in later.contains { line.contains($0) } }
            }
            listener.signal(SIGINT)
            _ = try await listener.end()
        },
        Scenario("F79", "forged and invalid messages on every channel", quick: true) { context in
            let server = try context.server()
            let workers = try await context.workers(2)
            let gate = context.directory + "/gate"
            let ids = try await context.push(6, "gate") {
                $0.gate = gate
                $0.timeout = .seconds(600)
            }
            try await eventually("they run") { ids.allSatisfy { context.ledger.begun[$0] != nil } }
            let arguments = [
                "push", "gate", #"{"gate":"\#(gate)"}"#, "--queue", ScenarioContext.queue, "--id", "awaited",
            ]
            let waiting = try context.program(
                "errand-producer",
                arguments + ["--timeout", "600s", "--wait=600s", "--redis", server.url, "--json"]
            )
            try await eventually("it waits") { context.ledger.begun["awaited"] != nil || waiting.lines.count > 0 }
            let sessions = workers.flatMap { context.sessions(of: $0) }
            let channels = [ScenarioContext.key("events")] + sessions.map { ScenarioContext.key("wakeups:\($0)") }
            let strange = try context.job("mark")
            for round in 0..<context.size(quick: 200, full: 5000) {
                for channel in channels {
                    for id in ids + ["awaited"] {
                        let forged =
                            #"{"event":"\#(context.pick(["finished", "cancelled", "dead"]))","id":"\#(id)","operation":"gate","name":null,"queue":"faults","attempt":1,"worker":"x","at_ms":1,"duration_ms":1,"error":null}"#
                        try server.run("PUBLISH", channel, forged)
                    }
                    try await context.write("PUBLISH", [Array(channel.utf8), context.noise(round % 50)])
                    try server.run("PUBLISH", channel, round % 2 == 0 ? "s" : "w")
                }
                for session in sessions { try await context.forgeDispatch(of: strange, to: session) }
                context.injected()
            }
            context.expect(waiting.isRunning, "a forged event ended the wait for a job: \(waiting.lines)")
            context.expect(ids.allSatisfy { context.ledger.ended[$0] == nil }, "a forged message ended a job")
            context.expect(context.ledger.begun[strange.id] == nil, "a job was run that only a forged message knows")
            let running = try await context.status().running
            context.expect(running == 7, "\(running) run")
            try Data().write(to: URL(fileURLWithPath: gate))
            let status = try await waiting.end()
            context.expect(status == 0, "the waiting push ended with \(status): \(waiting.lines)")
            context.accounts.adopt("awaited")
        },
        Scenario("F80", "jobs are cancelled in every state", quick: true) { context in
            let server = try context.server()
            try await context.workers(2) { $0.concurrency = 8 }
            let events = try await context.listen()
            var all: [String] = []
            for round in 0..<context.size(quick: 60, full: 1000) {
                let ids = try await context.push(10, round % 2 == 0 ? "mark" : "nap") {
                    $0.milliseconds = 10
                    $0.delay = round % 5 == 0 ? 20 : nil
                    $0.name = round % 3 == 0 ? "name \(round)" : nil
                    $0.unique = round % 3 == 0 ? .replace : .ignore
                    $0.ends = false
                }
                all += ids
                try await Task.sleep(for: .milliseconds(context.random(0...12)))
                for verdict in try await context.console.cancel(ids, on: ScenarioContext.queue) {
                    context.injected(verdict == .stopping || verdict == .cancelled ? 1 : 0)
                    context.expect(verdict != .notFound && verdict != .running, "cancelling said \(verdict)")
                }
            }
            let nobody = (0..<context.size(quick: 1000, full: 100_000)).map { "nobody-\($0)" }
            for start in stride(from: 0, to: nobody.count, by: 500) {
                let part = Array(nobody[start..<min(start + 500, nobody.count)])
                let verdicts = try await context.console.cancel(part, on: ScenarioContext.queue)
                context.expect(verdicts.allSatisfy { $0 == .notFound }, "an unknown job was not unknown")
            }
            try await context.drain()
            let stops = try server.run("HLEN", ScenarioContext.key("stops"))
            context.expect(stops == "0", "\(stops) requests to stop are left")
            try await eventually("every end is heard") {
                let heard = events.all().filter { ["finished", "cancelled", "replaced"].contains($0.event) }
                return Set(heard.map(\.id)).isSuperset(of: all)
            }
            let endings = events.all().filter { $0.event == "finished" || $0.event == "cancelled" }
            let counts = Dictionary(grouping: endings, by: \.id).filter { $0.value.count > 1 }
            context.expect(counts.isEmpty, "\(counts.count) jobs ended twice: \(counts.keys.prefix(3))")
        },
        Scenario("F84", "workers are killed, and every event matches a transition", quick: true, compareEvents),
    ]

    private static func compareEvents(_ context: ScenarioContext) async throws {
        // The stream is permanent.
        context.rules { $0.toleratedKeys = ["stream"] }
        try context.server()
        try await context.console.createQueue(ScenarioContext.queue)
        try await context.console.configure(ScenarioContext.queue, QueueSettings(keptEvents: 1_000_000))
        let heard = try await context.listen()
        let workers = try await WorkerGroup(context, 2)
        // So many at once that each worker always has some.
        let load = context.load(rate: 60, "nap") { $0.milliseconds = 100 }
        for _ in 0..<context.size(quick: 4, full: 30) {
            try await Task.sleep(for: .seconds(1))
            await workers.killOne()
        }
        try await load.stop()
        try await context.drain()
        await workers.dismiss()
        let kept = try await context.keptEvents()
        try await eventually("all that is kept is heard") { heard.all().count >= kept.count }
        let strange = Set(heard.all().map(\.words)).symmetricDifference(kept.map(\.words))
        context.expect(strange.isEmpty && heard.all().count == kept.count, "kept or heard only: \(strange.prefix(3))")
        let totals = try await context.totals()
        context.injected(totals["recovered"], or: "no kill reached a job")
        for kind in [JobEvent.Kind.finished, .recovered, .released] {
            let count = kept.filter { $0.kind == kind }.count
            context.expect(count == totals[kind.rawValue], "\(count) times \(kind), of \(totals[kind.rawValue])")
        }
        judgeHistories(of: kept, context)
    }

    /// Checks that each job's events are the ends of its claims, and that the last one finished it if it reached its
    /// end.
    private static func judgeHistories(of kept: [JobEvent], _ context: ScenarioContext) {
        let histories = Dictionary(grouping: kept) { $0.id ?? "-" }
        context.expect(Set(histories.keys) == Set(context.accounts.accepted), "events of other jobs than were pushed")
        let sessions = context.startedWorkers.flatMap { worker in context.sessions(of: worker).map { ($0, worker.pid) }
        }
        let pids = Dictionary(sessions) { first, _ in first }
        let ends = Set(context.ledger.lines.filter { $0.what == "end" }.map { "\($0.id) \($0.pid)" })
        let begun = context.ledger.begun
        for (id, history) in histories {
            let kinds = history.map { $0.event ?? "-" }
            let isOnce = kinds.filter { $0 == "finished" }.count == 1 && kinds.last == "finished"
            context.expect(isOnce && Set(history.map(\.words)).count == history.count, "the events of \(id): \(kinds)")
            context.expect(begun[id, default: 0] <= history.count, "\(id) began \(begun[id] ?? 0) times: \(kinds)")
            let pid = pids[history.last?.worker ?? "-"] ?? 0
            context.expect(ends.contains("\(id) \(pid)"), "\(id) finished in process \(pid), which does not know of it")
        }
    }

    /// The connections that listen for patterns, as `errand events` does.
    private static func subscribers(_ server: RedisServer) throws -> Set<String> {
        Set(try listening(server).compactMap { $0.split(separator: " ").first.map(String.init) })
    }

    /// The largest output buffer of these connections, in bytes.
    private static func heldBack(_ server: RedisServer) throws -> Int {
        let kept = try listening(server).flatMap { $0.split(separator: " ") }.filter { $0.hasPrefix("omem=") }
        return kept.compactMap { Int($0.dropFirst("omem=".count)) }.max() ?? 0
    }

    private static func listening(_ server: RedisServer) throws -> [Substring] {
        try server.run("CLIENT", "LIST", "TYPE", "pubsub").split(separator: "\n").filter { !$0.contains(" psub=0 ") }
    }
}
