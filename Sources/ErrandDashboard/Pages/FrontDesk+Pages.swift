import Errand
import ErrandOperator
import Hummingbird

extension FrontDesk {
    /// What is to be looked at.
    static func addPages<Context: RequestContext>(to routes: DeskRoutes<Context>) {
        routes.get("") { desk, request, _ in await desk.show(request) { _ in try await desk.overview() } }
        routes.get("queues/:queue") { desk, request, context in
            await desk.show(request) { _ in
                try await desk.queue(try desk.queueName(context.parameters.get("queue")))
            }
        }
        routes.get("workers") { desk, request, _ in await desk.show(request) { _ in try await desk.workers() } }
        routes.get("jobs") { desk, request, _ in await desk.show(request) { visit in try await desk.jobs(visit) } }
        routes.get("find") { desk, request, _ in
            await desk.answer(request, needing: .reading) { visit in try await desk.find(visit) }
        }
        routes.get("queues/:queue/jobs/:id") { desk, request, context in
            await desk.show(request) { visit in
                let queue = try desk.queueName(context.parameters.get("queue"))
                return try await desk.job(try desk.jobID(context.parameters.get("id")), in: queue, visit)
            }
        }
        routes.get("schedules") { desk, request, _ in
            await desk.show(request) { visit in try await desk.schedules(visit) }
        }
        routes.get("events") { desk, request, _ in await desk.show(request) { visit in try await desk.events(visit) } }
        routes.get("actions") { desk, request, _ in await desk.show(request) { _ in desk.actionsPage() } }
        routes.get("runs/:run") { desk, request, context in
            await desk.show(request) { _ in try desk.run(context.parameters.get("run")) }
        }
    }

    func queueName(_ text: String?) throws -> String {
        guard let text, QueueName.isValid(text) else { throw PageProblem.notFound("there is no queue of that name") }
        return text
    }

    func jobID(_ text: String?) throws -> String {
        guard let text, QueueName.isValid(jobID: text) else { throw PageProblem.notFound("that is no job's id") }
        return text
    }

    private static let unknownShown = 50

    private func overview() async throws -> Page {
        let overview = try await Overview(of: try await broker.queues(), on: broker)
        let views = QueueViews(sampler: dashboard.sampler)
        let unknown = overview.queues.flatMap { queue in
            queue.unknownOperations.sorted { $0.key < $1.key }.map { operation, count in
                ["queue": queue.name, "operation": operation, "count": count.grouped] as [String: Any]
            }
        }
        let shown = unknown.prefix(Self.unknownShown)
        return Page(
            heading: "Overview",
            template: "overview",
            content: [
                "cards": views.cards(overview), "charts": QueueCharts(dashboard.sampler.history).all,
                "queues": overview.queues.map(views.row), "hasUnknown": !unknown.isEmpty, "unknown": Array(shown),
                "more": unknown.count > shown.count ? "and \((unknown.count - shown.count).grouped) more" : "",
            ],
            unreadable: overview.unreadable
        )
    }

    private func queue(_ name: String) async throws -> Page {
        guard try await broker.queues().contains(name) else {
            throw PageProblem.notFound("there is no queue of that name")
        }
        let overview = try await Overview(of: [name], on: broker)
        let views = QueueViews(sampler: dashboard.sampler)
        return Page(
            heading: "Queue \(name)",
            template: "queue",
            content: [
                // Empty where the queue cannot be read; the page says why.
                "state": overview.queues.map { queue in
                    [
                        "name": name, "isPaused": queue.isPaused, "queueTable": ["queues": [views.row(queue)]],
                        "totals": QueueStatus.Totals.names.map { total in
                            ["title": total.replacing("_", with: " "), "value": queue.totals[total].grouped]
                        },
                        "workers": views.workers(overview.workers),
                    ] as [String: Any]
                },
                "charts": QueueCharts(dashboard.sampler.history, of: name).all,
            ],
            unreadable: overview.unreadable
        )
    }

    private func workers() async throws -> Page {
        let overview = try await Overview(of: try await broker.queues(), on: broker)
        let views = QueueViews(sampler: dashboard.sampler)
        return Page(
            heading: overview.workers.count.counted("worker"),
            template: "workers",
            content: ["workers": views.workers(overview.workers)],
            unreadable: overview.unreadable
        )
    }

    private func events(_ visit: Visit) async throws -> Page {
        let chosen = visit.query["queue"].flatMap { QueueName.isValid($0) ? $0 : nil } ?? ""
        return Page(
            heading: "Events",
            template: "events",
            content: ["chosen": chosen, "queueChoices": try await queueChoices(chosen)]
        )
    }

    func queueChoices(_ chosen: String) async throws -> [[String: Any]] {
        try await broker.queues().map { ["name": $0, "isChosen": $0 == chosen] }
    }
}
