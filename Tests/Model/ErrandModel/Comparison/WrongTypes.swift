import Errand
import ErrandRedis
package import TestSupport

/// A line of the wrong type makes a script fail in the middle, and Redis does not roll back: whatever was to move must
/// still be where it was.
extension RedisComparison {
    /// What a promotion has lost that did not look at the types before it wrote, or `nil`: what was to move is put in its
    /// new place before it leaves the old one, whatever was checked before.
    package static func faultOfUncheckedPromotion(
        on server: RedisServer,
        mutations: [TestScripts.Mutation]
    ) async throws -> String? {
        let look = "  if wrong then return wrong end\nend\n"
        let unchecked = TestScripts.Mutation(script: "promote", old: look, new: "end\n")
        let comparison = try await Self(on: server, try TestScripts.make(mutations: [unchecked] + mutations))
        defer { comparison.close() }
        return try await comparison.fault(of: .promote, queue: 8_000_003)
    }

    /// What a failing script has lost, or `nil`.
    package func faultOfWrongTypes(queue number: Int) async throws -> String? {
        for command in try Self.failing() {
            if let fault = try await fault(of: command, queue: number) { return fault }
        }
        return nil
    }

    private static let start: Time = 1_700_000_000_000

    private static func failing() throws -> [Command] {
        var replacement = Push(id: "j02")
        replacement.policy = .replace
        replacement.name = "name 0"
        let (new, plain) = (try replacement.envelope(), try Push(id: "j03").envelope())
        let report = OutcomeReport(id: "j00", token: Token((start + 20) * 1000), verb: .finished, attempt: 1)
        return [.push([plain]), .push([new]), .push([plain, new]), .promote, .exchange(call(2, [report]))]
    }

    private static let session = Session(
        id: "session-0",
        host: "host",
        pid: 1,
        concurrency: 4,
        queues: [],
        lease: .seconds(10),
        operations: [:]
    )

    private static func call(_ number: Int, _ reports: [OutcomeReport] = []) -> Exchange {
        Exchange(
            session: session,
            call: number,
            reports: reports,
            wanted: 1,
            freeSlots: 0,
            begun: 0,
            longestWait: .seconds(1),
            stopGrace: .zero
        )
    }

    /// A running job and a scheduled one that holds a name; then the line is made a text.
    private func fault(of command: Command, queue number: Int) async throws -> String? {
        let universe = Universe(queue: number)
        let subject = RedisSubject(universe, broker, scripts)
        var named = Push(id: "j01")
        named.policy = .drop
        named.name = "name 0"
        named.due = Self.start + 10
        let jobs = [try Push(id: "j00").envelope(), try named.envelope()]
        let steps: [Command] = [.push(jobs), .register(Self.session), .exchange(Self.call(1))]
        try await subject.begin(.init(time: Self.start, command: .promote))
        let late = History.Step(time: Self.start + 20, command: command)
        for step in steps { _ = try await subject.observe(.init(time: Self.start, command: step), next: late) }
        let key = KeySpace.key(of: universe.queue)
        _ = try await broker.command(.command("SET", key + ":ready:5", "garbage"), for: .anywhere)
        let before = try await places(key)
        var failed = false
        do { _ = try await subject.observe(late, next: nil) } catch { failed = true }
        let after = try await places(key)
        try await subject.wipe()
        // The check's own look at the line fails, too; what counts is what the script left behind.
        guard failed, before == after else {
            return "\(command) on a line of the wrong type: \(before) became \(after)"
        }
        return nil
    }

    /// Ids of bodies, scheduled jobs and claims.
    private func places(_ key: String) async throws -> [[String]] {
        let commands: [CommandWriter] = [
            .command("HKEYS", key + ":body"), .command("ZRANGE", key + ":scheduled", "0", "-1"),
            .command("HKEYS", key + ":claims:session-0"), .command("HGETALL", key + ":unique"),
        ]
        var places: [[String]] = []
        for command in commands {
            places.append(
                (try await broker.command(command, for: .anywhere).elements ?? []).compactMap(\.text).sorted()
            )
        }
        return places
    }
}
