import Testing

@testable import Errand

/// Expressions and their expected ticks.
@Suite("Cron: what expressions mean")
struct CronTableTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let expression: String
        let after: String
        let expected: [String]
        var testDescription: String { expression }

        init(_ expression: String, after: String, _ expected: String...) {
            self.expression = expression
            self.after = after
            self.expected = expected
        }
    }

    static let rows = [
        Row("* * * * *", after: "2026-01-01T00:00:30Z", "2026-01-01T00:01:00Z", "2026-01-01T00:02:00Z"),
        Row("30 2 * * *", after: "2026-01-01T02:30:00Z", "2026-01-02T02:30:00Z", "2026-01-03T02:30:00Z"),
        Row("*/15 8-9 * * *", after: "2026-01-01T08:40:00Z", "2026-01-01T08:45:00Z", "2026-01-01T09:00:00Z"),
        Row("5,35 */6 * * *", after: "2026-01-01T06:10:00Z", "2026-01-01T06:35:00Z", "2026-01-01T12:05:00Z"),
        Row("0 0 31 * *", after: "2026-01-31T00:00:00Z", "2026-03-31T00:00:00Z", "2026-05-31T00:00:00Z"),
        Row("0 0 L * *", after: "2028-01-31T00:00:00Z", "2028-02-29T00:00:00Z", "2028-03-31T00:00:00Z"),
        Row("0 0 1,L * *", after: "2026-02-01T00:00:00Z", "2026-02-28T00:00:00Z", "2026-03-01T00:00:00Z"),
        Row("0 12 29 2 *", after: "2026-01-01T00:00:00Z", "2028-02-29T12:00:00Z", "2032-02-29T12:00:00Z"),
        Row("0 12 29 2 *", after: "2096-03-01T00:00:00Z", "2104-02-29T12:00:00Z", "2108-02-29T12:00:00Z"),
        // 2026-01-01 is a Thursday. Both fields of the day restrict: either is enough.
        Row("0 0 13 * fri", after: "2026-01-03T00:00:00Z", "2026-01-09T00:00:00Z", "2026-01-13T00:00:00Z"),
        // One of them begins with a star: both must fit.
        Row("0 0 */2 * mon", after: "2026-01-01T00:00:00Z", "2026-01-05T00:00:00Z", "2026-01-19T00:00:00Z"),
        Row("0 0 * * 0", after: "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z", "2026-01-11T00:00:00Z"),
        Row("0 0 * * 7", after: "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z", "2026-01-11T00:00:00Z"),
        Row("0 0 * * Mon-FRI", after: "2026-01-02T00:00:00Z", "2026-01-05T00:00:00Z", "2026-01-06T00:00:00Z"),
        Row("0 0 * * sat-sun", after: "2026-01-01T00:00:00Z", "2026-01-03T00:00:00Z", "2026-01-04T00:00:00Z"),
        // From Sunday to Sunday is one day, not the whole week.
        Row("0 0 * * 0-0", after: "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z", "2026-01-11T00:00:00Z"),
        Row("0 0 * * 5-7", after: "2026-01-03T00:00:00Z", "2026-01-04T00:00:00Z", "2026-01-09T00:00:00Z"),
        Row("0 9 1 jan,jul *", after: "2026-01-01T09:00:00Z", "2026-07-01T09:00:00Z", "2027-01-01T09:00:00Z"),
        Row("10-20/5 * * * * *", after: "2026-01-01T00:00:10Z", "2026-01-01T00:00:15Z", "2026-01-01T00:00:20Z"),
        Row("59 59 23 31 12 *", after: "2026-12-31T23:59:58Z", "2026-12-31T23:59:59Z", "2027-12-31T23:59:59Z"),
        // The longest steps: what they divide is as long.
        Row("*/60 * * * *", after: "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z", "2026-01-01T02:00:00Z"),
        Row("0 */24 * * *", after: "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"),
        Row("10-20/11 0 1 */12 *", after: "2026-01-01T00:10:00Z", "2027-01-01T00:10:00Z"),
        Row("0 0 * * sun-sat/7", after: "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z", "2026-01-11T00:00:00Z"),
        Row("@hourly", after: "2026-01-01T00:00:00Z", "2026-01-01T01:00:00Z", "2026-01-01T02:00:00Z"),
        Row("@daily", after: "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"),
        Row("@weekly", after: "2026-01-01T00:00:00Z", "2026-01-04T00:00:00Z", "2026-01-11T00:00:00Z"),
        Row("@monthly", after: "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"),
        Row("@yearly", after: "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z"),
        Row("  0\t0  1 1 * ", after: "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"),
    ]

    @Test("the next ticks", arguments: rows)
    func next(_ row: Row) throws {
        let timing = try ScheduleTiming.cron(row.expression)
        let ticks = timing.ticks(after: try ms(row.after), row.expected.count)
        #expect(ticks.map(utc) == row.expected)
        let last = try #require(ticks.last)
        #expect(timing.ticksBackwards(after: try ms(row.after), upTo: last) == ticks, "the same backwards")
    }

    @Test(
        "what is refused, and how",
        arguments: [
            ("", "fields"), ("* * * *", "4 fields"), ("* * * * * * *", "7 fields"),
            ("@reboot", "\"@reboot\" is unknown"),
            ("60 * * * *", "minute \"60\": it must be 0 to 59"), ("* 24 * * *", "hour \"24\""),
            ("* * 0 * *", "day of month \"0\""), ("* * 32 * *", "day of month \"32\""), ("* * * 13 *", "month \"13\""),
            ("* * * foo *", "month \"foo\""), ("* * * * 8", "day of week \"8\""),
            ("* * * * mon-", "day of week \"mon-\""),
            ("60 * * * * *", "second \"60\""), ("5/15 * * * *", "write 5-59/15"), ("*/0 * * * *", "its step must be"),
            ("*/100 * * * *", "its step must be"), ("*/-1 * * * *", "its step must be"),
            ("*/90 * * * *", "minute \"*/90\": its step must be a whole number from 1 to 60"),
            ("*/61 * * * * *", "second \"*/61\": its step must be a whole number from 1 to 60"),
            ("0 */25 * * *", "hour \"*/25\": its step must be a whole number from 1 to 24"),
            ("0 0 */32 * *", "day of month \"*/32\": its step must be a whole number from 1 to 31"),
            ("0 0 1 */13 *", "month \"*/13\": its step must be a whole number from 1 to 12"),
            ("0 0 * * */8", "day of week \"*/8\": its step must be a whole number from 1 to 7"),
            ("0 0 * * 0-7/8", "day of week \"0-7/8\": its step must be a whole number from 1 to 7"),
            ("10-20/30 * * * *", "its step must be a whole number from 1 to 11, because 10 to 20 has 11 values"),
            ("1,10-20/12,3 * * * *", "minute \"10-20/12\""), ("5-5/2 * * * *", "minute \"5-5/2\""),
            ("0 9-17/10 * * *", "hour \"9-17/10\""), ("0 0 1 jan-mar/4 *", "month \"jan-mar/4\""),
            ("0 0 * * mon-fri/6", "day of week \"mon-fri/6\""), ("0 0 * * fri-sun/4", "day of week \"fri-sun/4\""),
            ("5/70 * * * *", "its step must be a whole number from 1 to 55"), ("*/5/5 * * * *", "its step must be"),
            ("*/1.5 * * * *", "its step must be"), ("0 0 L/2 * *", "day of month \"L\""), ("0 0 ? * *", "\"?\""),
            ("0 0 L-3 * *", "\"L-3\""), ("0 0 15W * *", "\"15W\""), ("0 0 * * 5#2", "\"5#2\""),
            ("@every 5m", "\"@every 5m\" is unknown"), ("@daily @weekly", "is unknown"),
            ("1,,2 * * * *", "minute \"\""),
            ("30-10 * * * *", "write 30-59,0-10"), ("1-2-3 * * * *", "minute \"1-2-3\""),
            ("+1 * * * *", "minute \"+1\""),
            ("0 0 30 2 *", "never happens"), ("0 0 31 2,4,6,9,11 *", "never happens"), ("０ 0 * * *", "characters"),
            ("L * * * *", "minute \"L\""), ("99999999999999999999 * * * *", "minute"),
            ("*/ * * * *", "its step must be"),
        ]
    )
    func refused(_ text: String, _ reason: String) throws {
        let error = #expect(throws: ScheduleError.self) { try ScheduleTiming.cron(text) }
        #expect(error?.field == "cron")
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test("invalid zone names", arguments: ["", "Mars/Olympus", "CET ", "GMT+2", "../etc", "europe/berlin", "+02:00"])
    func zones(_ name: String) throws {
        let error = #expect(throws: ScheduleError.self) { try ScheduleTiming.cron("0 0 * * *", timeZone: name) }
        #expect(error?.field == "time_zone")
    }

    @Test(
        "zones that are ones",
        arguments: [
            "UTC", "Etc/UTC", "Europe/Berlin", "Asia/Kolkata", "Asia/Calcutta",
            "Europe/Kyiv", "Europe/Kiev", "US/Eastern", "America/Argentina/Buenos_Aires", "Australia/Lord_Howe", "GMT",
            "US/Hawaii", "Asia/Istanbul", "Etc/GMT+5", "EST5EDT", "Factory",
        ]
    )
    func realZones(_ name: String) throws {
        #expect(try ScheduleTiming.cron("0 0 * * *", timeZone: name).timeZone == name)
    }
}

@Suite("Intervals")
struct IntervalTests {
    @Test func multiplesFromTheAnchor() throws {
        let timing = try ScheduleTiming.every(.seconds(90))
        #expect(timing.ticks(after: 0, 3) == [90_000, 180_000, 270_000])
        #expect(timing.next(after: 89_999) == 90_000)
        #expect(timing.latest(atOrBefore: 89_999) == 0)
        let anchored = try ScheduleTiming.every(.seconds(60), anchor: 1_000_030_500)
        #expect(anchored.next(after: 0) == 10_500)
        #expect(anchored.latest(atOrBefore: 1_000_030_499) == 999_970_500)
        #expect(anchored.next(after: 1_000_030_500) == 1_000_090_500)
    }

    @Test func limits() throws {
        for wrong in [Duration.zero, .milliseconds(999), .seconds(-5), .seconds(315_360_001), .seconds(Int64.max)] {
            #expect(throws: ScheduleError.self) { try ScheduleTiming.every(wrong) }
        }
        #expect(throws: ScheduleError.self) { try ScheduleTiming.every(.seconds(1) + .nanoseconds(1)) }
        #expect(throws: ScheduleError.self) { try ScheduleTiming.every(.seconds(1), anchor: -1) }
        #expect(throws: ScheduleError.self) { try ScheduleTiming.every(.seconds(1), anchor: .max) }
        let timing = try ScheduleTiming.every(.seconds(1))
        #expect(timing.next(after: .max) == nil)
        #expect(timing.next(after: .min) == 0)
        #expect(timing.latest(atOrBefore: .min) == nil)
        #expect(timing.latest(atOrBefore: .max) == 9_999_999_999_000)
    }
}
