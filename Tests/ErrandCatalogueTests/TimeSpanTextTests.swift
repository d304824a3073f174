import ErrandText
import Testing

/// Time spans for people.
@Suite struct TimeSpanTextTests {
    @Test(
        arguments: [
            (0, "0 ms"), (1, "1 ms"), (999, "999 ms"), (1000, "1 s"), (4000, "4 s"), (4500, "4.5 s"), (1001, "1.001 s"),
            (59_990, "59.99 s"), (60_000, "1 min"), (90_000, "1 min 30 s"), (90_250, "1 min 30.25 s"),
            (60_001, "1 min 0.001 s"), (3_600_000, "1 h"), (3_605_000, "1 h 5 s"), (86_400_000, "1 d"),
            (90_061_000, "1 d 1 h 1 min 1 s"), (-5, "-5 ms"),
        ] as [(Int64, String)]
    )
    func `a span is written exactly`(_ milliseconds: Int64, _ text: String) {
        #expect(TimeSpanText.exact(milliseconds) == text)
        #expect(TimeSpanText.exact(.milliseconds(milliseconds)) == text)
    }

    @Test(
        arguments: [
            (250, "250 ms"), (12_540, "12.5 s"), (59_999, "59.9 s"), (90_250, "1 min 30 s"), (3_605_000, "1 h"),
            (3_725_000, "1 h 2 min"), (90_061_000, "1 d 1 h"), (.max, "106751991167 d 7 h"), (.min, "\(Int64.min) ms"),
        ] as [(Int64, String)]
    )
    func `an age has the two largest units`(_ milliseconds: Int64, _ text: String) {
        #expect(TimeSpanText.rounded(milliseconds) == text)
    }

    @Test func `a fraction of a millisecond is rounded up, and a span without an end is no trap`() {
        #expect(TimeSpanText.exact(.microseconds(1)) == "1 ms")
        #expect(TimeSpanText.exact(.seconds(Int64.max)) == TimeSpanText.exact(Int64.max))
    }
}
