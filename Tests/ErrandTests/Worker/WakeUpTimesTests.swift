import Testing

@testable import Errand

/// When the idle queues of a session are looked at.
struct WakeUpTimesTests {
    private let start = ContinuousClock.now

    /// Returns the time of the look after a series of unsuccessful ones, of which the last was at `time`.
    private func nextLook(after time: Duration, since first: ContinuousClock.Instant) -> Duration {
        var pause = PollPause(longest: .milliseconds(500), times: WakeUpTimes(since: first), at: start)
        for _ in 0..<20 { pause.note(found: false, hurries: false, at: start + time) }
        return time + pause.rest(at: start + time)
    }

    @Test func queuesThatWereLookedAtAtDifferentTimesAreThenLookedAtTogether() {
        let looks = (0..<100).map { nextLook(after: .milliseconds(1_000 + $0), since: start) }
        #expect(Set(looks) == [.milliseconds(1_500)])
        #expect(nextLook(after: .milliseconds(999), since: start) == .milliseconds(1_250), "never too late")
        #expect(nextLook(after: .milliseconds(1_502), since: start) == .milliseconds(2_000))
    }

    @Test func anotherSessionHasTimesOfItsOwn() {
        #expect(nextLook(after: .milliseconds(1_000), since: start + .milliseconds(40)) == .milliseconds(1_290))
    }

    @Test func shortPausesKeepTheirEnd() {
        var pause = PollPause(longest: .milliseconds(500), times: WakeUpTimes(since: start), at: start)
        for expected in [1, 2, 4, 8, 16, 32, 64, 128, 256] {
            pause.note(found: false, hurries: false, at: start)
            #expect(pause.rest(at: start) == .milliseconds(expected))
        }
        let times = WakeUpTimes(since: start)
        #expect(times.pause(of: .milliseconds(499), at: start + .milliseconds(3)) == .milliseconds(499))
        #expect(times.pause(of: .milliseconds(900), at: start + .milliseconds(3)) == .milliseconds(747))
    }
}
