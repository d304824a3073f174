import Errand
import ErrandRedis
import Foundation
import Synchronization
import TestSupport

/// Crashes at every script's boundary: before the server hears of it, and after it was carried out but not heard of.
extension Scenario {
    static let crashPoints = [
        Scenario("F02", "a worker or producer dies before and after each script", quick: true, limit: .seconds(240)) {
            play in
            let server = try play.server()
            try await play.worker { $0.concurrency = 8 }
            for _ in 0..<play.size(quick: 1, full: 10) {
                for point in CrashPoint.allCases {
                    for isAfter in [false, true] { try await crash(play, server, point, isAfter: isAfter) }
                }
                for isAfter in [false, true] { try await crashProducer(play, server, isAfter: isAfter) }
            }
        }
    ]

    /// What a worker does when it dies.
    private enum CrashPoint: String, CaseIterable {
        case register, claim, report, heartbeat, recover, promote, release

        /// Whether a request is what the point names.
        func matches(_ script: String, _ request: ChaosProxy.Request, _ ids: [String]) -> Bool {
            switch self {
            case .claim: script == "exchange"
            case .report: script == "exchange" && ids.contains { request.contains($0) }
            default: script == rawValue
            }
        }
    }

    /// One worker dies at the point; the other one, which nothing happens to, finishes all jobs.
    private static func crash(_ play: Play, _ server: RedisServer, _ point: CrashPoint, isAfter: Bool) async throws {
        let proxy = try play.proxy(server)
        defer { proxy.close() }
        let jobs = try (0..<20).map { number in
            var options = JobOptions()
            options.milliseconds = 100
            options.name = "\(point) \(isAfter) \(number)"
            options.unique = .drop
            options.delay = number % 4 == 0 ? 500 : nil
            return try play.job("nap", options)
        }
        let ids = jobs.map(\.id)
        let victim = Victim()
        proxy.treat { request in
            guard let script = ScriptCalls.script(of: request), point.matches(script, request, ids),
                victim.meets()
            else { return .pass }
            // Stopped, it can do nothing more, whatever comes back.
            victim.stop()
            return isAfter ? .pass : .hold
        }
        let worker = try await play.worker {
            $0.url = proxy.url
            $0.waits = false
        }
        victim.is(worker.pid)
        if point == .register { victim.arm() } else { try await play.registered(worker) }
        try await play.push(jobs)
        if point != .register { victim.arm() }
        if point == .release { worker.signal(SIGTERM) }
        try await eventually("a worker comes to \(point)") { victim.isStopped }
        if isAfter { try await eventually("the server has answered") { proxy.passages.last?.answer.isEmpty == false } }
        try await play.kill(worker)
        play.struck()
        try await play.recovers("the jobs end though a worker died at \(point)", within: .seconds(15)) {
            ids.allSatisfy { play.ledger.ended[$0] != nil }
        }
    }

    /// A producer dies, and its command is repeated with the same id.
    private static func crashProducer(_ play: Play, _ server: RedisServer, isAfter: Bool) async throws {
        let proxy = try play.proxy(server)
        defer { proxy.close() }
        let job = try play.job("mark")
        let victim = Victim()
        proxy.treat { request in
            guard ScriptCalls.script(of: request) == "push", victim.meets() else { return .pass }
            victim.stop()
            return isAfter ? .pass : .hold
        }
        let arguments = ["push", "mark", "--queue", Play.queue, "--id", job.id, "--json"]
        let producer = try play.program("errand-producer", arguments + ["--redis", proxy.url])
        victim.is(producer.pid)
        victim.arm()
        try await eventually("the producer pushes") { victim.isStopped }
        if isAfter { try await eventually("the server has answered") { proxy.passages.last?.answer.isEmpty == false } }
        try await play.kill(producer)
        play.struck()
        play.accounts.tries([job], ends: true)
        let again = try play.program("errand-producer", arguments + ["--redis", server.url])
        let status = try await again.end()
        let said = again.lines.first { $0.hasPrefix("{") } ?? "nothing"
        play.expect(status == 0, "the repeated push ended with \(status)")
        play.expect(said.contains(isAfter ? "\"exists\"" : "\"accepted\""), "the repeated push said \(said)")
        play.accounts.took([Receipt(id: job.id, queue: Play.queue, outcome: .accepted)], of: [job])
        try await eventually("the job ends") { play.ledger.ended[job.id] == 1 }
    }
}

/// A process that is stopped at the first request that fits, once it is armed.
private final class Victim: Sendable {
    private struct State {
        var pid: Int32 = 0
        var isArmed = false
        var isStopped = false
    }

    private let state = Mutex(State())

    func `is`(_ pid: Int32) { state.withLock { $0.pid = pid } }
    func arm() { state.withLock { $0.isArmed = true } }
    var isStopped: Bool { state.withLock(\.isStopped) }

    /// Whether this is the moment.
    func meets() -> Bool { state.withLock { $0.isArmed && !$0.isStopped } }

    func stop() {
        state.withLock { state in
            _ = Foundation.kill(state.pid, SIGSTOP)
            state.isStopped = true
        }
    }
}
