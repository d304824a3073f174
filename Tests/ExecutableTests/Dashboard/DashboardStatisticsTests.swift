import Errand
import ErrandDashboard
import ErrandOperator
import Foundation
import Synchronization
import TestSupport
import Testing

/// The charts, the tables of times and the list of problems.
@Suite struct DashboardStatisticsTests {
    private func scene(_ body: (MemoryBroker, ErrandDashboard) async throws -> Void) async throws {
        let time = Clock()
        let broker = MemoryBroker(now: { time.now })
        let producer = Producer(broker: broker)
        for minutes in [50, 40, 10] {
            time.minutesAgo.withLock { $0 = minutes }
            let jobs = try (0..<600).map { _ in try OperationDescription("resize", queue: "images") }
            _ = try await producer.push(contentsOf: jobs)
            let runs = RunStatistics(cells: "0=98 1=2 4=1 8=500 105=100 9=1000 340=99 350=1")
            try await broker.record(["resize": runs], on: "images")
        }
        time.minutesAgo.withLock { $0 = 0 }
        try await body(broker, ErrandDashboard(broker: broker) { _ in .reading() })
    }

    private final class Clock: Sendable {
        let minutesAgo = Mutex(0)
        var now: Int64 { MemoryBroker.systemTime() - Int64(minutesAgo.withLock { $0 }) * 60_000 }
    }

    /// The values of a line of a chart, as the script of the page reads them.
    private func values(of line: String, in chart: String, _ page: String) throws -> [Double?] {
        let figure = try #require(page.firstRange(of: "aria-label=\"\(chart)\""), "\(page)")
        let data = try #require(page[figure.upperBound...].firstMatch(of: /data-lines="([^"]*)"/)).1
        let lines = data.split(separator: ";").map { $0.split(separator: "=", omittingEmptySubsequences: false) }
        let found = try #require(lines.first { $0.first.map(String.init) == line }, "\(data)")
        return found[1].split(separator: ",", omittingEmptySubsequences: false).map { Double($0) }
    }

    @Test func chartsShowTheTimeBeforeTheDashboard() async throws {
        try await scene { _, dashboard in
            let page = try await DashboardScene.ask(dashboard, "/?period=1h").text
            let pushed = try values(of: "pushed", in: "Throughput", page)
            #expect(pushed.count == 60)
            #expect(pushed.prefix(8).allSatisfy { $0 == nil }, "nothing is known before the first sample: \(pushed)")
            #expect(pushed.contains(1), "600 jobs in 10 minutes are 1 a second: \(pushed)")
            #expect(pushed.contains(0.3), "600 jobs in 30 minutes are a third of that: \(pushed)")
            let waiting = try values(of: "waiting", in: "Backlog (jobs)", page)
            #expect(waiting.last == 1800 && waiting.contains(1200), "\(waiting)")
        }
    }

    @Test func timesOfWaitingAndRunningAreShownByOperation() async throws {
        try await scene { _, dashboard in
            for path in ["/?period=24h", "/queues/images?period=1h"] {
                let page = try await DashboardScene.ask(dashboard, path).text
                let row = try #require(page.firstMatch(of: /<th scope="row">resize<\/th>.*/), "\(page)").0
                #expect(row.contains(">300<") && row.contains("bad\">2.0 %<") && row.contains("bad\">3<"), "\(row)")
                #expect(row.contains("s</td>") && row.contains("ms</td>"), "\(row)")
            }
        }
    }

    @Test func aPeriodThatDoesNotExistIsRefused() async throws {
        try await scene { _, dashboard in
            let response = try await DashboardScene.ask(dashboard, "/?period=2h")
            #expect(response.status == 400 && response.text.contains("15m, 1h, 24h or 7d"))
        }
    }

    @Test func prometheusReadsTheTimesOfOperations() async throws {
        try await scene { _, dashboard in
            let text = try await DashboardScene.ask(dashboard, "/metrics").text
            #expect(
                text.contains("errand_runs_total{queue=\"images\",operation=\"resize\",outcome=\"finished\"} 294\n")
            )
            #expect(text.contains("errand_wait_seconds_bucket{queue=\"images\",operation=\"resize\",le=\"0.001\"} 0\n"))
            #expect(
                text.contains("errand_wait_seconds_bucket{queue=\"images\",operation=\"resize\",le=\"0.016\"} 300\n")
            )
            #expect(text.contains("errand_run_seconds_sum{queue=\"images\",operation=\"resize\"} 3\n"))
        }
    }

    @Test func problemsComeFirstAndLeadToTheirLists() async throws {
        try await scene { _, dashboard in
            let page = try await DashboardScene.ask(dashboard, "/").text
            let problems = try #require(page.firstRange(of: "class=\"problems\""))
            let cards = try #require(page.firstRange(of: "class=\"cards\""))
            #expect(problems.lowerBound < cards.lowerBound)
            #expect(page.contains("<a href=\"/errand/queues/images\">No worker serves images: 1,800 ready jobs</a>"))
        }
    }
}

/// The course of a queue between samples.
@Suite struct StatisticsSeriesTests {
    private let now: Int64 = 1_800_000_030_000

    private func sample(_ minutesAgo: Int64, pushed: Int, ready: Int = 0) -> QueueStatistics.Sample {
        var sample = QueueStatistics.Sample(at: now - minutesAgo * 60_000)
        (sample.pushed, sample.ready) = (pushed, ready)
        return sample
    }

    @Test func ratesAreMeansBetweenSamples() {
        let series = StatisticsSeries(
            [sample(10, pushed: 0), sample(9, pushed: 120), sample(0, pushed: 660, ready: 7)],
            of: .quarter,
            now: now
        )
        #expect(series.points.count == 15)
        let pushed = series.points.map { $0?.pushed }
        #expect(pushed.last == 1 && pushed.contains(2), "\(pushed)")
        #expect(series.points.last??.ready == 7 && series.points.first == .some(nil))
    }

    @Test func lostDataGivesNoNegativeRate() {
        let series = StatisticsSeries(
            [sample(2, pushed: 1000), sample(1, pushed: 3), sample(0, pushed: 63)],
            of: .quarter,
            now: now
        )
        #expect(series.points.compactMap { $0?.pushed }.allSatisfy { $0 >= 0 })
        #expect(series.points.last??.pushed == 1)
    }

    @Test func queuesAreAddedUp() {
        var series = StatisticsSeries([sample(1, pushed: 0), sample(0, pushed: 60)], of: .quarter, now: now)
        series.add(StatisticsSeries([sample(1, pushed: 0), sample(0, pushed: 120)], of: .quarter, now: now))
        #expect(series.points.last??.pushed == 3)
    }

    @Test func hostileSamplesDoNotTrap() {
        var (old, new) = (QueueStatistics.Sample(at: .min), QueueStatistics.Sample(at: .max))
        (old.pushed, new.failed, new.timedOut) = (.max, .max, .max)
        _ = StatisticsSeries([old, new], of: .week, now: now)
        #expect(
            QueueStatistics.Sample(text: "-1 2") == nil && QueueStatistics.Sample(text: "99999999999999999999") == nil
        )
    }
}
