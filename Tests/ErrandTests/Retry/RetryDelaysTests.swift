import Errand
import Testing

@Suite struct RetryDelaysTests {
    @Test func `with the defaults the third retry starts at least 60 s after the first failure`() {
        let spans = (0..<5000).map { _ in (1...3).reduce(0) { $0 + RetryDelays().delay(ofRetry: $1) } }
        #expect(spans.allSatisfy { (84_000...105_000).contains($0) })
        #expect(RetryDelays().maxRetries == 3)
        #expect(OperationDefaults().retries == 3)
    }

    @Test func `a wait is doubled up to the longest`() {
        let delays = RetryDelays(base: .milliseconds(100), longest: .milliseconds(300), jitter: 0)
        #expect([1, 2, 3, 4, 1000, .max].map(delays.delay(ofRetry:)) == [100, 200, 300, 300, 300, 300])
        #expect([.min, -1, 0].map(delays.delay(ofRetry:)) == [100, 100, 100], "no attempt is earlier than the first")
    }

    @Test func `the jitter shortens a wait by up to its part`() {
        let delays = RetryDelays(base: .seconds(10), jitter: 0.2)
        let waits = (0..<2000).map { _ in delays.delay(ofRetry: 2) }
        #expect(waits.allSatisfy { (16_000...20_000).contains($0) })
        #expect(waits.contains { $0 < 16_500 } && waits.contains { $0 > 19_500 })
        let full = RetryDelays(base: .seconds(10), jitter: 1)
        #expect((0..<2000).map { _ in full.delay(ofRetry: 1) }.contains { $0 < 1000 })
    }

    @Test func `what is left out fits to what is there`() {
        #expect(RetryDelays() == RetryDelays(base: .seconds(15), longest: .seconds(3600), jitter: 0.2))
        #expect(RetryDelays(base: .seconds(7200)).longest == .seconds(7200))
        #expect(RetryDelays(longest: .seconds(5)).base == .seconds(5))
    }

    @Test func `odd values never trap`() {
        let durations: [Duration] = [
            .seconds(Int64.min), .seconds(-1), .zero, .nanoseconds(1), .milliseconds(1), .seconds(Int64.max),
        ]
        for base in durations {
            for longest in durations {
                for jitter in [-Double.infinity, -1, 0, 0.5, 1, 7, .infinity, .nan] {
                    let delays = RetryDelays(base: base, longest: longest, jitter: jitter)
                    for attempt in [Int.min, 1, 41, 1001, .max] { #expect(delays.delay(ofRetry: attempt) >= 0) }
                }
            }
        }
    }
}
