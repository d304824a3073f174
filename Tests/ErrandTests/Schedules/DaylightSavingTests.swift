import Testing

@testable import Errand

/// Clock changes: the table of `docs/schedules.md`.
@Suite("Cron: daylight saving and other clock changes")
struct DaylightSavingTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let zone: String
        let expression: String
        let after: String
        let expected: [String]
        var testDescription: String { "\(expression) in \(zone) after \(after)" }

        init(_ zone: String, _ expression: String, after: String, _ expected: String...) {
            self.zone = zone
            self.expression = expression
            self.after = after
            self.expected = expected
        }
    }

    static let rows = [
        // Berlin, 2026-03-29: 02:00 +01:00 becomes 03:00 +02:00, at 01:00 UTC.
        Row(
            "Europe/Berlin",
            "30 2 * * *",
            after: "2026-03-28T00:00:00Z",
            "2026-03-28T01:30:00Z",
            "2026-03-29T01:00:00Z",
            "2026-03-30T00:30:00Z"
        ),
        Row(
            "Europe/Berlin",
            "*/20 2 * * *",
            after: "2026-03-28T12:00:00Z",
            "2026-03-29T01:00:00Z",
            "2026-03-30T00:00:00Z",
            "2026-03-30T00:20:00Z"
        ),
        Row(
            "Europe/Berlin",
            "0 2,3 * * *",
            after: "2026-03-28T12:00:00Z",
            "2026-03-29T01:00:00Z",
            "2026-03-30T00:00:00Z",
            "2026-03-30T01:00:00Z"
        ),
        Row(
            "Europe/Berlin",
            "*/30 * * * *",
            after: "2026-03-29T00:00:00Z",
            "2026-03-29T00:30:00Z",
            "2026-03-29T01:00:00Z",
            "2026-03-29T01:30:00Z"
        ),
        // Berlin, 2026-10-25: 03:00 +02:00 becomes 02:00 +01:00, at 01:00 UTC.
        Row(
            "Europe/Berlin",
            "30 2 * * *",
            after: "2026-10-24T12:00:00Z",
            "2026-10-25T00:30:00Z",
            "2026-10-26T01:30:00Z"
        ),
        Row("Europe/Berlin", "30 2 * * *", after: "2026-10-25T01:15:00Z", "2026-10-26T01:30:00Z"),
        Row(
            "Europe/Berlin",
            "0 1-3 * * *",
            after: "2026-10-24T12:00:00Z",
            "2026-10-24T23:00:00Z",
            "2026-10-25T00:00:00Z",
            "2026-10-25T02:00:00Z"
        ),
        Row(
            "Europe/Berlin",
            "*/30 * * * *",
            after: "2026-10-24T23:30:00Z",
            "2026-10-25T00:00:00Z",
            "2026-10-25T00:30:00Z",
            "2026-10-25T01:00:00Z",
            "2026-10-25T01:30:00Z",
            "2026-10-25T02:00:00Z"
        ),
        Row(
            "Europe/Berlin",
            "* * 2 * * *",
            after: "2026-10-25T00:59:58Z",
            "2026-10-25T00:59:59Z",
            "2026-10-26T01:00:00Z"
        ),
        // New York, 2026-03-08: 02:00 -05:00 becomes 03:00 -04:00, at 07:00 UTC; 2026-11-01 back, at 06:00 UTC.
        Row(
            "America/New_York",
            "15 2 * * *",
            after: "2026-03-07T12:00:00Z",
            "2026-03-08T07:00:00Z",
            "2026-03-09T06:15:00Z"
        ),
        Row(
            "America/New_York",
            "15 1 * * *",
            after: "2026-10-31T12:00:00Z",
            "2026-11-01T05:15:00Z",
            "2026-11-02T06:15:00Z"
        ),
        Row(
            "America/New_York",
            "15 * * * *",
            after: "2026-11-01T05:00:00Z",
            "2026-11-01T05:15:00Z",
            "2026-11-01T06:15:00Z",
            "2026-11-01T07:15:00Z"
        ),
        // Lord Howe changes by half an hour: 2026-10-04 02:00 +10:30 becomes 02:30 +11:00, at 15:30 UTC the day before;
        // 2026-04-05 02:00 +11:00 becomes 01:30 +10:30, at 15:00 UTC the day before.
        Row(
            "Australia/Lord_Howe",
            "15 2 * * *",
            after: "2026-10-03T00:00:00Z",
            "2026-10-03T15:30:00Z",
            "2026-10-04T15:15:00Z"
        ),
        Row(
            "Australia/Lord_Howe",
            "45 2 * * *",
            after: "2026-10-03T00:00:00Z",
            "2026-10-03T15:45:00Z",
            "2026-10-04T15:45:00Z"
        ),
        Row(
            "Australia/Lord_Howe",
            "45 1 * * *",
            after: "2026-04-04T00:00:00Z",
            "2026-04-04T14:45:00Z",
            "2026-04-05T15:15:00Z"
        ),
        Row(
            "Australia/Lord_Howe",
            "45 * * * *",
            after: "2026-04-04T14:00:00Z",
            "2026-04-04T14:45:00Z",
            "2026-04-04T15:15:00Z",
            "2026-04-04T16:15:00Z"
        ),
        // Samoa left out 2011-12-30 altogether.
        Row(
            "Pacific/Apia",
            "0 12 30 12 *",
            after: "2011-01-01T00:00:00Z",
            "2011-12-30T10:00:00Z",
            "2012-12-29T22:00:00Z"
        ),
        Row("Pacific/Apia", "0 * 30 12 *", after: "2011-01-01T00:00:00Z", "2012-12-29T10:00:00Z"),
        // Brazil went back at midnight, to 23:00 of the day before: 2018-02-18 at 02:00 UTC.
        Row(
            "America/Sao_Paulo",
            "30 23 * * *",
            after: "2018-02-17T12:00:00Z",
            "2018-02-18T01:30:00Z",
            "2018-02-19T02:30:00Z"
        ),
        Row(
            "America/Sao_Paulo",
            "30 * 17 2 *",
            after: "2018-02-18T01:00:00Z",
            "2018-02-18T01:30:00Z",
            "2018-02-18T02:30:00Z",
            "2019-02-17T03:30:00Z"
        ),
    ]

    @Test("the next ticks, and the same backwards", arguments: rows)
    func next(_ row: Row) throws {
        let timing = try ScheduleTiming.cron(row.expression, timeZone: row.zone)
        let start = try ms(row.after)
        let ticks = timing.ticks(after: start, row.expected.count)
        #expect(ticks.map(utc) == row.expected)
        #expect(timing.ticksBackwards(after: start, upTo: try #require(ticks.last)) == ticks)
    }
}
