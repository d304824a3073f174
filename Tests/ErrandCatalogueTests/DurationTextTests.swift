import Testing

@testable import ErrandText

struct DurationTextTests {
    @Test(arguments: [
        ("250ms", Duration.milliseconds(250)), ("10s", .seconds(10)), ("5m", .seconds(300)), ("2h", .seconds(7_200)),
        ("1d", .seconds(86_400)), ("36500d", DurationText.longest), ("007s", .seconds(7)),
    ])
    func reads(text: String, duration: Duration) throws {
        #expect(try DurationText.parse(text) == duration)
    }

    @Test(arguments: [
        ("", DurationTextError.Reason.notADuration), ("10", .notADuration), ("s", .notADuration),
        ("-1s", .notADuration),
        ("1.5s", .notADuration), ("10 s", .notADuration), ("10S", .notADuration), ("10s ", .notADuration),
        ("٣s", .notADuration), ("1s\u{301}", .notADuration), ("0s", .notPositive), ("0ms", .notPositive),
        ("36501d", .tooLong), ("9223372036854775807d", .tooLong), ("99999999999999999999s", .tooLong),
    ])
    func refuses(text: String, reason: DurationTextError.Reason) {
        #expect(throws: DurationTextError(text: text, reason: reason)) { try DurationText.parse(text) }
    }

    @Test(arguments: [
        (Duration.milliseconds(1_500), "1500ms"), (.seconds(90), "90s"), (.seconds(7_200), "2h"), (.zero, "0ms"),
        (.microseconds(1), "1ms"), (.seconds(-60), "-1m"), (.seconds(Int64.max), "9223372036854775807s"),
    ])
    func writes(duration: Duration, text: String) {
        #expect(DurationText.format(duration) == text)
    }

    @Test func saysWhatIsAllowed() {
        let error = DurationTextError(text: "soon", reason: .notADuration)
        #expect(
            error.description == "\"soon\" is not a duration; write a whole number and a unit: 250ms, 10s, 5m, 2h or 1d"
        )
    }
}
