import Errand
import Testing

/// The maintenance of one queue by many sessions, in virtual time.
struct MaintenancePaceTests {
    private struct Chance: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ (state >> 29)
        }
    }

    /// The result: calls a second in all, and the longest delay of a job.
    private func play(sessions: Int, dueEvery gap: Duration, for span: Duration) -> (looks: Double, latest: Duration) {
        var chance = Chance(state: UInt64(sessions))
        var paces = [MaintenancePace](repeating: MaintenancePace(), count: sessions)
        var wakes = (0..<sessions).map { _ in Duration.milliseconds(Int.random(in: 20...200, using: &chance)) }
        var (due, looks, latest) = (Duration.milliseconds(500), 0, Duration.zero)
        while let (session, now) = wakes.enumerated().min(by: { $0.element < $1.element }), now < span {
            looks += 1
            let found = due <= now
            if found { latest = max(latest, now - due) }
            while due <= now { due += gap }
            wakes[session] = now + paces[session].pause(until: due - now, found: found, using: &chance)
        }
        return (Double(looks) / (span / .seconds(1)), latest)
    }

    @Test func aLoneSessionComesAtEachDueTime() {
        let (looks, latest) = play(sessions: 1, dueEvery: .milliseconds(50), for: .seconds(20))
        #expect(looks < 21)
        #expect(latest < .milliseconds(15))
    }

    /// Two hundred sessions that called at each due time would make 40,000 calls a second.
    @Test func manySessionsDoNotAllComeAtEachDueTime() {
        let (looks, latest) = play(sessions: 200, dueEvery: .milliseconds(5), for: .seconds(20))
        #expect(looks < 1200, "200 of them because each looks once a second")
        #expect(latest < .milliseconds(60))
    }

    @Test func othersTakeOverWithinASecond() {
        var (chance, late) = (Chance(state: 7), MaintenancePace())
        var pause = Duration.zero
        // Another session is always first.
        for _ in 0..<50 { pause = late.pause(until: .milliseconds(5), found: false, using: &chance) }
        #expect(pause > .milliseconds(5))
        for _ in 0..<200 {
            let pause = late.pause(until: .milliseconds(5), found: false, using: &chance)
            #expect(pause <= .milliseconds(1100))
        }
    }
}
