import Errand
import Synchronization
import Testing

struct PoolProbeTests {
    private let start = ContinuousClock.now

    @Test func aPoolThatRunsNothingIsBlockedSinceTheTaskWasSent() {
        let probe = PoolProbe { _ in }
        let looks = (0..<5).map { probe.look(at: start + .seconds($0)) }
        #expect(looks == [nil, nil, nil, .seconds(3), .seconds(4)])
    }

    /// A process that was suspended gets the replies of all its queues at once when it continues, before its pool runs.
    @Test func looksAtOnceAreOne() {
        let probe = PoolProbe { _ in }
        #expect(probe.look(at: start) == nil)
        let late = start + .seconds(60)
        for milliseconds in 0..<40 { #expect(probe.look(at: late + .milliseconds(milliseconds)) == nil) }
        #expect(probe.look(at: late + .milliseconds(60)) == nil)
        #expect(probe.look(at: late + .milliseconds(120)) == .milliseconds(60_120))
    }

    @Test func aPoolThatRanTheTaskIsNotBlocked() {
        let sent = Mutex<[@Sendable () -> Void]>([])
        let probe = PoolProbe { task in sent.withLock { $0.append(task) } }
        for round in 0..<6 {
            #expect(probe.look(at: start + .seconds(2 * round)) == nil)
            #expect(probe.look(at: start + .seconds(2 * round + 1)) == nil)
            sent.withLock { $0 }.forEach { $0() }
        }
        #expect(sent.withLock(\.count) == 6)
    }
}
