import Errand
import ErrandOperator
import Testing

/// The words for the timing of a schedule.
@Suite struct TimingTextTests {
    @Test(arguments: [
        ("* * * * *", "every minute"), ("*/1 * * * *", "every minute"), ("*/15 * * * *", "every 15 minutes"),
        ("5 * * * *", "at minute 5 of every hour"), ("@hourly", "at minute 0 of every hour"),
        ("0 3 * * *", "at 03:00 every day (UTC)"), ("@daily", "at 00:00 every day (UTC)"),
        ("30 9 * * 1-5", "at 09:30 Monday to Friday (UTC)"), ("30 9 * * mon-fri", "at 09:30 Monday to Friday (UTC)"),
        ("0 0 * * 7", "at 00:00 every Sunday (UTC)"), ("0 4 1 * *", "at 04:00 on day 1 of every month (UTC)"),
        ("0 4 L * *", "at 04:00 on the last day of every month (UTC)"),
        ("@yearly", "at 00:00 on day 1 of January (UTC)"),
        // More words than they save.
        ("*/7 * * * *", "*/7 * * * * (UTC)"), ("0 3,15 * * *", "0 3,15 * * * (UTC)"),
        ("0 3 1 * 5", "0 3 1 * 5 (UTC)"), ("0 30 9 * * *", "0 30 9 * * * (UTC)"), ("5 * * * 1", "5 * * * 1 (UTC)"),
    ]) func `common expressions have words`(_ expression: String, _ words: String) throws {
        let timing = try ScheduleTiming.cron(expression)
        #expect(timing.words == words)
        #expect(timing.expression == expression)
    }

    @Test func `times are in the zone of the schedule`() throws {
        let timing = try ScheduleTiming.cron("0 3 * * *", timeZone: "Europe/Berlin")
        #expect(timing.words == "at 03:00 every day (Europe/Berlin)")
    }

    @Test(arguments: [(1, "every second"), (60, "every minute"), (90, "every 1 min 30 s"), (86_400, "every day")])
    func `intervals have words`(_ seconds: Int, _ words: String) throws {
        let timing = try ScheduleTiming.every(.seconds(seconds))
        #expect(timing.words == words && timing.expression == nil)
    }
}
