import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Servers that come back with less than they had said.
extension Scenario {
    static let lostData = [
        Scenario("F38", "the server keeps nothing, and is killed", quick: true) { context in
            try await lose(context, [], rounds: context.size(quick: 2, full: 30)) { _, _ in }
        },
        Scenario("F38b", "the server keeps snapshots only, and is killed some time after the last one", quick: true) {
            context in
            try await loseWhatCameSinceTheSnapshot(context)
        },
        Scenario("F39", "the end of the append-only file is cut off, also amid a transaction", quick: true) { context in
            try await cutTheEndOff(context, rounds: context.size(quick: 3, full: 60), rewrites: true)
        },
        Scenario("F39b", "the same again and again, and the server carries out halves of transactions") { context in
            // Redis 7.0 leaves the half of a transaction in the file, and carries it out with the next one at the next
            // start, unless the file was rewritten meanwhile. What comes of that the doctor must mend.
            context.rules { $0.toleratedKeys = ["session:"] }
            try await cutTheEndOff(context, rounds: context.size(quick: 6, full: 60), rewrites: false)
        },
        Scenario("F40", "an old backup is put in place") { context in
            let backup = context.directory + "/backup"
            let rounds = context.size(quick: 1, full: 8)
            try await lose(context, ["--appendonly", "yes"], rounds: rounds, ticks: true) { server, isOver in
                let files = AppendOnlyFile.directory(of: server)
                if !isOver {
                    // Copied while it stands still: whole at that moment.
                    server.kill(SIGSTOP)
                    try Shell.run("rm -rf \(backup) && cp -r \(files) \(backup)")
                    server.kill(SIGCONT)
                    // Longer than a schedule's tick may be late without having been missed.
                    try await Task.sleep(for: .seconds(context.size(quick: 14, full: 20)))
                } else {
                    try Shell.run("rm -rf \(files) && cp -r \(backup) \(files)")
                }
            }
            // Jobs that are made to fail begin twice without any backup; none of them ends twice.
            let isAnyBack = context.ledger.ended.values.contains { $0 > 1 }
            context.expectInjection(isAnyBack, "the backup brought no job back that had ended")
        },
    ]

    /// Whatever is lost, what is left is consistent: nothing sticks, tokens are new, workers go on.
    ///
    /// - Parameters:
    ///   - ticks: whether a schedule ticks meanwhile that makes up for nothing.
    ///   - spoil: called before the server is killed (`false`) and after it (`true`).
    private static func lose(
        _ context: ScenarioContext,
        _ settings: [String],
        rounds: Int,
        repairs: Bool = false,
        ticks: Bool = false,
        _ spoil: (RedisServer, Bool) async throws -> Void
    ) async throws {
        context.rules { $0.serverLosesData = true }
        let server = try context.server(settings)
        let workers = try await context.workers(2)
        let producer = try context.connect(server.url, patience: .milliseconds(300))
        let load = context.load(rate: 60, via: producer)
        var pulse: Pulse?
        if ticks {
            pulse = try await Pulse(context, catchUp: .none)
            try await eventually("the schedule ticks") { try await pulse?.record().pushed ?? 0 > 0 }
        }
        for round in 0..<rounds {
            try await pushMore(context, unique: round % 2 == 0 ? .drop : .replace)
            try await Task.sleep(for: .milliseconds(context.random(200...1000)))
            try await spoil(server, false)
            server.kill(SIGKILL)
            try await spoil(server, true)
            try server.start()
            if repairs { _ = try await context.console.audit(ScenarioContext.queue, repair: true) }
            let findings = try await context.audit()
            context.expect(findings.isEmpty, "after the loss the audit found \(findings.prefix(3).map(\.message))")
            context.injected()
            try await context.carries(load, within: .seconds(5))
        }
        try await load.stop()
        try await pulse?.stop(afterReturns: rounds)
        // No name may be left locked by a job that is no more.
        try await context.drain()
        let named = try await context.push(1, "mark") {
            $0.name = "same"
            $0.unique = .drop
        }
        try await context.recovers("a job of the same name runs", within: .seconds(5)) {
            context.ledger.ended[named[0]] != nil
        }
        context.expectAlive(workers)
        try await context.expectEveryoneIsBusy(workers)
    }

    /// Some that fail, one with a name, and more than the workers can run at once.
    private static func pushMore(_ context: ScenarioContext, unique: UniquenessPolicy) async throws {
        try await context.push(40, "nap") { $0.milliseconds = 100 }
        try await context.push(3, "failonce") { $0.retries = 3 }
        try await context.push(1, "nap") {
            $0.name = "same"
            $0.unique = unique
        }
    }

    /// What was acknowledged before the snapshot was begun is not lost.
    private static func loseWhatCameSinceTheSnapshot(_ context: ScenarioContext) async throws {
        var kept: Set<String> = []
        try await lose(context, [], rounds: context.size(quick: 2, full: 30)) { server, isOver in
            guard !isOver else { return }
            let before = context.accounts.accepted
            // What earlier kills took is not in this snapshot.
            let gone = try await forgotten(of: before, context)
            let saved = try server.run("SAVE")
            context.expect(saved == "OK", "SAVE answered \(saved)")
            kept.formUnion(Set(before).subtracting(gone))
            try await context.push(40, "nap") { $0.milliseconds = 100 }
            try await Task.sleep(for: .milliseconds(context.random(100...500)))
        }
        let gone = try await forgotten(of: context.accounts.accepted, context)
        context.expectInjection(!gone.isEmpty, "no job was lost")
        let lost = kept.intersection(gone).sorted()
        context.expect(lost.isEmpty, "\(lost.count) jobs of a snapshot were lost: \(lost.prefix(3))")
    }

    /// Those of these jobs that did not reach their end, and that the broker does not know.
    private static func forgotten(of ids: [String], _ context: ScenarioContext) async throws -> [String] {
        let ended = context.ledger.ended
        let open = ids.filter { ended[$0] == nil }
        let records = try await context.console.inspect(open, on: ScenarioContext.queue)
        return zip(open, records).filter { $0.1 == nil }.map(\.0)
    }

    /// Every other cut is amid the last transaction, the rest are wherever chance puts them.
    private static func cutTheEndOff(_ context: ScenarioContext, rounds: Int, rewrites: Bool) async throws {
        let settings = ["--appendonly", "yes", "--aof-load-truncated", "yes"]
        var cuts = 0
        var halves = 0
        try await lose(context, settings, rounds: rounds, repairs: !rewrites) { server, isOver in
            if isOver {
                let file = try AppendOnlyFile(of: server)
                let aim = cuts % 2 == 0 ? file.lastTransaction : nil
                let length =
                    aim.map { context.random($0.lowerBound...$0.upperBound - 1) }
                    ?? file.length(without: context.random(1...20_000))
                if file.isAmidTransaction(at: length) { halves += 1 }
                try file.truncate(to: length)
                cuts += 1
            } else if rewrites {
                try server.run("BGREWRITEAOF")
                try await eventually("the file is rewritten") {
                    let isRunning = try server.fact("aof_rewrite_in_progress") != "0"
                    return try !isRunning && server.fact("aof_rewrite_scheduled") == "0"
                }
                try await Task.sleep(for: .milliseconds(context.random(200...1000)))
            }
        }
        context.expectInjection(halves > 0, "no cut was amid a transaction")
    }
}
