import Errand
import ErrandRedis
import Foundation
import TestSupport

/// Many pushes of one name at once.
extension Scenario {
    static let storms = [
        Scenario("F72", "a storm of drops: one of them runs", quick: true) { play in
            try await storm(play, .drop) { place in
                try await play.workers(2)
                let storm = try await Storm.rage(place, count: play.size(quick: 1000, full: 10_000))
                let accepted = storm.outcomes.filter { $0.value == .accepted }.map(\.key)
                play.expect(accepted == Array(storm.order.prefix(1)), "accepted were \(accepted.prefix(3))")
                let dropped = storm.outcomes.values.filter { $0 == .dropped }.count
                play.expect(dropped == storm.outcomes.count - 1, "\(dropped) were dropped")
                return (storm, accepted.first)
            }
        },
        Scenario("F72b", "a storm of replaces meets a waiting job: the last one runs", quick: true) { play in
            try await storm(play, .replace) { place in
                let storm = try await Storm.rage(place, count: play.size(quick: 1000, full: 10_000))
                try await play.worker()
                return (storm, storm.order.last)
            }
        },
        Scenario("F72c", "a storm of replaces meets a running job: the last one runs", quick: true) { play in
            try await storm(play, .replace) { place in
                try await play.workers(2)
                let first = try await firstJob(place)
                try await eventually("the first job runs") { play.ledger.begun[first] == 1 }
                let storm = try await Storm.rage(place, count: play.size(quick: 300, full: 3000))
                play.expect(storm.outcomes.values.contains(.deferred), "nothing was deferred")
                try await eventually("the last job runs") {
                    play.ledger.lines.last { $0.what == "begin" }?.id == storm.order.last
                }
                play.expect(play.ledger.ended[first] == nil, "the first job ended")
                return (storm, storm.order.last)
            }
        },
        Scenario("F72d", "a storm of replaces meets a delayed job: the last one runs now") { play in
            try await storm(play, .replace) { place in
                _ = try await firstJob(place, delay: 3_600_000)
                let storm = try await Storm.rage(place, count: play.size(quick: 300, full: 3000))
                try await play.worker()
                return (storm, storm.order.last)
            }
        },
        Scenario("F72e", "a storm of replaces while every worker is killed: the last one runs", quick: true) { play in
            try await storm(play, .replace) { place in
                let killed = try await play.workers(2)
                let first = try await firstJob(place)
                try await eventually("the first job runs") { play.ledger.begun[first] == 1 }
                async let raging = Storm.rage(place, count: play.size(quick: 300, full: 3000))
                try await eventually("the storm has begun") { try await play.totals()["pushed"] > 1 }
                for worker in killed { try await play.kill(worker) }
                try await play.worker()
                let storm = try await raging
                return (storm, storm.order.last)
            }
        },
        Scenario("F73", "a name is replaced all the time, and its job runs all the same", quick: true) { play in
            let server = try play.server()
            try await play.push(play.size(quick: 300, full: 10_000), "nap") { $0.milliseconds = 20 }
            let replacing = play.load(
                rate: play.size(quick: 200, full: 1000),
                "mark",
                via: try play.connect(server.url)
            ) {
                $0.name = "restless"
                $0.unique = .replace
            }
            try await Task.sleep(for: .seconds(1))
            let waiting = try await play.status().ready
            try await play.workers(2) { $0.concurrency = 4 }
            // As long as what was in line before it takes, with as much again for a slow machine.
            try await play.recovers("the job of the restless name runs", within: .seconds(waiting / 100 + 15)) {
                play.ledger.lines.contains { play.accounts.entries[$0.id]?.outcome == .replaced && $0.what == "end" }
            }
            try await replacing.stop()
            play.struck(Int(try await play.totals()["replaced"]))
        },
    ]

    /// A job of the storm's name that was there before it.
    private static func firstJob(_ place: Storm.Place, delay: Int64? = nil) async throws -> String {
        try await place.play.push(1, "gate") {
            $0.gate = place.gate
            $0.name = Storm.name
            $0.unique = .replace
            $0.delay = delay
            $0.ends = false
        }[0]
    }

    /// A storm and what must come of it: the one job that is named ran last, and alone reached its end.
    private static func storm(
        _ play: Play,
        _ policy: UniquenessPolicy,
        _ body: (Storm.Place) async throws -> (storm: Storm, survivor: String?)
    ) async throws {
        let server = try play.server()
        let gate = play.directory + "/gate"
        let (storm, survivor) = try await body(
            Storm.Place(play: play, server: server, policy: policy, operation: "gate", gate: gate)
        )
        try Data().write(to: URL(fileURLWithPath: gate))
        play.struck(storm.outcomes.count)
        try await play.drain()
        play.expect(Set(storm.order) == Set(storm.outcomes.keys), "the server's log has other pushes")
        let ended = play.ledger.ended
        play.expect(ended == [survivor ?? "none": 1], "ended: \(ended), expected was \(survivor ?? "none")")
        play.expect(
            play.ledger.lines.last?.id == survivor,
            "the last that ran was \(play.ledger.lines.last?.id ?? "-")"
        )
        let totals = try await play.totals()
        play.expect(totals["finished"] == 1, "\(totals["finished"]) finished")
        play.accounts.took(storm.outcomes)
        let left = Set(try await play.keys()).intersection(["names", "named", "next", "stops"])
        play.expect(left.isEmpty, "a lock was left: \(left)")
    }
}
