import Errand
import ErrandOperator
import ErrandText
import Hummingbird

extension DashboardController {
    /// Adds the routes of the pages.
    static func addPages<Context: RequestContext>(to routes: DashboardRoutes<Context>) {
        addQueuePages(to: routes)
        addWorkflowPages(to: routes)
        routes.get("") { controller, request, _ in
            await controller.show(request) { pageRequest in try await controller.overview(pageRequest) }
        }
        routes.get("workers") { controller, request, _ in
            await controller.show(request) { _ in try await controller.workers() }
        }
        routes.get("jobs") { controller, request, _ in
            await controller.show(request) { pageRequest in try await controller.jobs(pageRequest) }
        }
        routes.get("find") { controller, request, _ in
            await controller.answer(request, needing: .reading) { pageRequest in try await controller.find(pageRequest)
            }
        }
        routes.get("push") { controller, request, _ in
            await controller.show(request) { pageRequest in
                try await controller.pushPage(pageRequest.query, pageRequest)
            }
        }
        routes.get("schedules") { controller, request, _ in
            await controller.show(request) { pageRequest in try await controller.schedules(pageRequest) }
        }
        routes.get("schedules/edit") { controller, request, _ in
            await controller.show(request) { pageRequest in try await controller.schedulePage(pageRequest) }
        }
        routes.get("events") { controller, request, _ in
            await controller.show(request) { pageRequest in try await controller.events(pageRequest) }
        }
        routes.get("actions") { controller, request, _ in
            await controller.show(request) { _ in controller.actionsPage() }
        }
        routes.get("runs/:run") { controller, request, context in
            await controller.show(request) { _ in try controller.run(context.parameters.get("run")) }
        }
    }

    private static func addQueuePages<Context: RequestContext>(to routes: DashboardRoutes<Context>) {
        routes.get("queues/:queue") { controller, request, context in
            await controller.show(request) { pageRequest in
                try await controller.queue(try controller.queueName(context.parameters.get("queue")), pageRequest)
            }
        }
        routes.get("queues/:queue/groups") { controller, request, context in
            await controller.show(request) { pageRequest in
                let queue = try controller.queueName(context.parameters.get("queue"))
                return try await controller.groupsPage(of: queue, pageRequest)
            }
        }
        routes.get("queues/:queue/jobs/:id") { controller, request, context in
            await controller.show(request) { pageRequest in
                let queue = try controller.queueName(context.parameters.get("queue"))
                return try await controller.job(
                    try controller.jobID(context.parameters.get("id")),
                    in: queue,
                    pageRequest
                )
            }
        }
    }

    func queueName(_ text: String?) throws -> String {
        guard let text, QueueName.isValid(text) else { throw PageProblem.notFound("there is no queue of that name") }
        return text
    }

    /// The problem of a text that is no job's id.
    static func notAJobID(_ text: String) -> String {
        let shown = text.printable.shortened(to: 100)
        return "\"\(shown)\" is not a job's id: up to 64 letters, digits, hyphens and underscores"
    }

    func jobID(_ text: String?) throws -> String {
        guard let text, QueueName.isValid(jobID: text) else {
            throw PageProblem.notFound(Self.notAJobID(text ?? ""))
        }
        return text
    }

    /// Throws if no queue has this name.
    func checkExists(_ queue: String) async throws {
        guard try await dashboard.queues.names().contains(queue) else {
            throw PageProblem.notFound("there is no queue of that name")
        }
    }

    private func queue(_ name: String, _ pageRequest: PageRequest) async throws -> Page {
        try await checkExists(name)
        let overview = try await Overview(of: [name], on: broker)
        let hasGroups = if let queue = overview.queues.first { try await linksGroups(of: queue) } else { false }
        let views = QueueViews(sampler: dashboard.sampler)
        let period = try pageRequest.period()
        let statistics = await dashboard.statistics.value(of: name, period)
        let charts = QueueCharts(
            series: statistics.series,
            rates: dashboard.sampler.rates(of: name),
            queues: overview.queues
        )
        let workerViews = WorkerViews(
            running: try await RunningJobs(of: overview, on: broker),
            moments: MomentView(),
            isOfOneQueue: true
        )
        return Page(
            heading: "Queue \(name)",
            template: "queue",
            content: [
                // Empty if the queue cannot be read; the page shows the reason.
                "state": overview.queues.map { queue in
                    [
                        "name": name, "isPaused": queue.isPaused, "queueTable": ["queues": [views.row(queue)]],
                        "hasGroups": hasGroups,
                        "totals": QueueStatus.Totals.names.map { total in
                            ["title": total.replacing("_", with: " "), "value": queue.totals[total].grouped]
                        },
                        "workers": workerViews.values(overview.workers),
                    ] as [String: Any]
                },
                "charts": charts.all, "periods": TimesViews.periods(period),
                "times": TimesViews.rows(statistics.operations), "hasTimes": !statistics.operations.isEmpty,
            ],
            unreadable: overview.unreadable
        )
    }

    /// Returns whether a queue has groups or rules. If they cannot be read, their page shows the reason.
    private func linksGroups(of queue: QueueStatus) async throws(BrokerError) -> Bool {
        do throws(BrokerError) { return try await broker.hasGroupsOrRules(queue) } catch {
            guard error.isOfOnePlace else { throw error }
            return true
        }
    }

    private static let eventKinds: [JobEvent.Kind] = [
        .started, .finished, .failed, .timedOut, .cancelled, .released, .recovered, .retrying, .dead, .dropped,
        .replaced, .expired, .skipped, .progress, .workflowFinished, .workflowFailed, .workflowCancelled,
    ]

    private func events(_ pageRequest: PageRequest) async throws -> Page {
        let chosen = pageRequest.query["queue"].flatMap { QueueName.isValid($0) ? $0 : nil } ?? ""
        return Page(
            heading: "Events",
            template: "events",
            content: [
                "chosen": chosen, "queueChoices": try await queueChoices(chosen),
                "kinds": Self.eventKinds.map { ["kind": $0.rawValue] },
            ]
        )
    }

    func queueChoices(_ chosen: String) async throws -> [[String: Any]] {
        try await dashboard.queues.names().map { ["name": $0, "isChosen": $0 == chosen] }
    }
}
