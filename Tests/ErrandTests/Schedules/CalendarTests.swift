import Foundation
import Testing

@testable import Errand

/// Calendar rules, and schedules of typed jobs.
@Suite("Schedules: calendar days and typed jobs")
struct CalendarTests {
    @Test("each calendar rule matches its cron expression")
    func expressions() throws {
        let berlin = "Europe/Berlin"
        let pairs: [(ScheduleTiming, ScheduleTiming)] = [
            (try .everyMinute(second: 5), try .cron("5 * * * * *")),
            (try .hourly(minute: 10), try .cron("10 * * * *")),
            (try .daily(hour: 2, minute: 30, timeZone: berlin), try .cron("30 2 * * *", timeZone: berlin)),
            (try .weekly(day: .sunday, hour: 4, timeZone: berlin), try .cron("0 4 * * sun", timeZone: berlin)),
            (try .onDays([.thursday, .monday], hour: 9), try .cron("0 9 * * mon,thu")),
            (try .monthly(date: 31, hour: 1, minute: 2), try .cron("2 1 31 * *")),
            (try .yearly(month: .december, date: 24, hour: 18), try .cron("0 18 24 dec *")),
            (try .crontab("@daily", timeZone: berlin), try .cron("@daily", timeZone: berlin)),
        ]
        for (timing, expected) in pairs { #expect(timing == expected) }
    }

    @Test("every day and month has its name", arguments: 0..<12)
    func names(_ index: Int) throws {
        let day = ScheduleTiming.Day.allCases[index % 7]
        let before = try ms("2025-12-31T00:00:00Z")
        let weekly = try ScheduleTiming.weekly(day: day)
        // 2026-02-01 is a Sunday.
        let sunday = try ms("2026-02-01T00:00:00Z")
        #expect(weekly.next(after: sunday - 1) == sunday + Int64(index % 7) * 86_400_000)
        let yearly = try ScheduleTiming.yearly(month: ScheduleTiming.Month.allCases[index], date: 1)
        let month = (index < 9 ? "0" : "") + String(index + 1)
        let first = try ms("2026-\(month)-01T00:00:00Z")
        #expect(yearly.next(after: before) == first)
    }

    @Test("impossible times and dates are rejected")
    func refusals() {
        #expect(throws: ScheduleError.self) { try ScheduleTiming.everyMinute(second: 60) }
        #expect(throws: ScheduleError.self) { try ScheduleTiming.hourly(minute: -1) }
        #expect(throws: ScheduleError.self) { try ScheduleTiming.daily(hour: 24) }
        #expect(throws: ScheduleError.self) { try ScheduleTiming.onDays([]) }
        #expect(throws: ScheduleError.self) { try ScheduleTiming.monthly(date: 32) }
        #expect(throws: ScheduleError.self) { try ScheduleTiming.yearly(month: .february, date: 30) }
        #expect(throws: ScheduleError.self) { try ScheduleTiming.daily(hour: 1, timeZone: "Middle/Earth") }
    }

    private struct Report: JobParameters {
        static let jobName = "report"
        static let jobVersion = 3
        static let jobDefaults = JobDefaults(queue: "reports", priority: 7, uniqueness: .drop(by: "kind"))
        let kind: String
    }

    @Test("a typed job is pushed as a producer would push it")
    func typed() throws {
        let report = Report(kind: "sales")
        let options = PushOptions(timeout: .seconds(600), meta: ["tenant": "a"])
        let schedule = try Schedule("r", .daily(hour: 4), pushing: report, options: options, revision: 2)
        #expect(schedule.template == (try report.described(options, now: .now)))
        #expect(
            schedule.queue == "reports" && schedule.revision == 2 && schedule.template.meta["errand.version"] == "3"
        )
        #expect(schedule.template.givenPolicy == .drop)
    }

    @Test("an overlap determines the uniqueness instead of the type; both together are rejected")
    func overlap() throws {
        let schedule = try Schedule("r", .daily(hour: 4), pushing: Report(kind: "sales"), overlap: .skip)
        #expect(schedule.template.givenPolicy == nil && schedule.template.priority == 7)
        #expect(throws: ScheduleError.self) {
            let options = PushOptions(uniqueness: .drop)
            _ = try Schedule("r", .daily(hour: 4), pushing: Report(kind: "x"), options: options, overlap: .skip)
        }
        #expect(throws: ScheduleError.self) {
            _ = try Schedule("r", .daily(hour: 4), pushing: Report(kind: "x"), options: .init(delay: .seconds(1)))
        }
        #expect(throws: ScheduleError.self) {
            _ = try Schedule("r", .daily(hour: 4), pushing: Report(kind: "x"), options: .init(id: "a"))
        }
    }
}
