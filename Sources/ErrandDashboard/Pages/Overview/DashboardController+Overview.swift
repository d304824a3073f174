import Errand
import ErrandOperator

extension DashboardController {
    private static let unknownShown = 50

    func overview(_ pageRequest: PageRequest) async throws -> Page {
        let period = try pageRequest.period()
        let overview = try await Overview(of: try await dashboard.queues.names(), withServersOf: broker)
        let statistics = await dashboard.statistics.value(of: overview.queues, period)
        let views = QueueViews(sampler: dashboard.sampler)
        let rates = overview.queues.reduce(Rates()) { $0 + dashboard.sampler.rates(of: $1.name) }
        let problems = OverviewProblems(overview).all
        var content: [String: Any] = [
            "problems": problems, "hasProblems": !problems.isEmpty, "cards": views.cards(overview, rates),
            "charts": QueueCharts(series: statistics.series, rates: rates, queues: overview.queues).all,
            "periods": TimesViews.periods(period), "queues": overview.queues.map(views.row),
            "hasServers": !overview.servers.isEmpty, "servers": overview.servers.map(views.server),
        ]
        content.merge(times(statistics)) { $1 }
        content.merge(unknownOperations(overview)) { $1 }
        return Page(heading: "Overview", template: "overview", content: content, unreadable: overview.unreadable)
    }

    private func times(_ statistics: StatisticsCache.Value) -> [String: Any] {
        [
            "hasTimes": !statistics.operations.isEmpty, "queueTimes": TimesViews.rows(statistics.queues),
            "hasQueueTimes": statistics.queues.count > 1, "times": TimesViews.rows(statistics.operations),
            "isShortened": statistics.operations.count > TimesViews.mostRows,
        ]
    }

    private func unknownOperations(_ overview: Overview) -> [String: Any] {
        let unknown = overview.queues.flatMap { queue in
            queue.unknownOperations.sorted { $0.key < $1.key }.map { operation, count in
                ["queue": queue.name, "operation": operation, "count": count.grouped]
            }
        }
        let rest = unknown.count - min(unknown.count, Self.unknownShown)
        return [
            "hasUnknown": !unknown.isEmpty, "unknown": Array(unknown.prefix(Self.unknownShown)),
            "more": rest > 0 ? "and \(rest.grouped) more" : "",
        ]
    }
}
