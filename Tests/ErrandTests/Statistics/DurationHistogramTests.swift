import Testing

@testable import Errand

@Suite("Statistics of durations")
struct DurationHistogramTests {
    @Test(
        "every duration is in the bucket whose limits enclose it",
        arguments: [0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 12, 1000, 86_400_000]
    )
    func buckets(milliseconds: Int) {
        let bucket = DurationHistogram.bucket(of: milliseconds)
        #expect(DurationHistogram.limit(of: bucket) <= Double(milliseconds))
        #expect(Double(milliseconds) < DurationHistogram.limit(of: bucket + 1))
    }

    @Test("percentiles are within their bucket")
    func percentiles() throws {
        var histogram = DurationHistogram()
        for duration in 1...1000 { histogram.add(milliseconds: duration) }
        for (share, exact) in [(0.5, 500.0), (0.95, 950), (0.99, 990)] {
            let found = try #require(histogram.percentile(share))
            #expect(abs(found - exact) / exact < 0.1, "\(share): \(found)")
        }
        #expect(histogram.count == 1000 && histogram.totalMilliseconds == 500_500)
        #expect(histogram.count(below: 512) == 511)
        #expect(DurationHistogram().percentile(0.5) == nil)
    }

    @Test("hostile durations and counts are kept within limits")
    func hostile() {
        var histogram = DurationHistogram()
        histogram.add(milliseconds: .min)
        histogram.add(milliseconds: .max)
        histogram.merge(histogram)
        #expect(histogram.count == 4 && histogram.totalMilliseconds == .max)
        let huge = "0=\(Int.max) 100=\(Int.max)"
        var statistics = RunStatistics(cells: huge)
        statistics.merge(statistics)
        #expect(statistics.finished == .max && statistics.runs == .max && statistics.waiting.count == .max)
        #expect(statistics.waiting.percentile(0.99) != nil)
        for text in [
            "", "=", "0=", "=1", "x=1", "0=-1", "0=1x", "999=1", "99999999999999999999=1", "0=99999999999999999999",
        ] {
            #expect(RunStatistics(cells: text) == RunStatistics(), "\(text)")
        }
    }

    @Test("cells say all that they were made of")
    func cells() {
        var statistics = RunStatistics()
        let finished = RunEnding(status: .succeeded, timedOut: false, duration: .zero, error: nil)
        for duration in [0, 1, 3, 70, 5_000_000] { statistics.add(finished, waited: duration * 2, ran: duration) }
        let late = RunEnding(status: .failed, timedOut: true, duration: .seconds(1), error: "late")
        statistics.add(late, waited: 1, ran: 1000)
        #expect(RunStatistics(cells: statistics.cells) == statistics)
        #expect(statistics.finished == 5 && statistics.timedOut == 1 && statistics.dead == 1 && statistics.failed == 0)
    }

    @Test("scripts know the buckets of every resolution", arguments: StatisticsResolution.allCases)
    func resolutions(resolution: StatisticsResolution) throws {
        #expect(resolution.bucket(of: resolution.step * 7 + 1) == 7)
        #expect(try resolution.buckets(from: 0, to: resolution.step) == 0...1)
        #expect(throws: BrokerError.self) { try resolution.buckets(from: 1_000_000_000, to: 0) }
    }
}
