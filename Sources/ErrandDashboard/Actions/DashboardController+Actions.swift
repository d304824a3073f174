import Errand
import ErrandOperator
import ErrandText
import Hummingbird

extension DashboardController {
    /// Adds the routes that change something.
    static func addActions<Context: RequestContext>(to routes: DashboardRoutes<Context>) {
        routes.post("queues/:queue/:way") { controller, request, context in
            await controller.act(request) { pageRequest in
                let queue = try controller.queueName(context.parameters.get("queue"))
                return try await controller.steer(queue, context.parameters.get("way") ?? "", pageRequest)
            }
        }
        routes.post("queues/:queue/jobs/:id/:way") { controller, request, context in
            let way = context.parameters.get("way") ?? ""
            let limit = PushAgain(rawValue: way) == nil ? Self.formLimit : Self.editLimit
            return await controller.answer(request, needing: .acting, upTo: limit) { pageRequest in
                let queue = try controller.queueName(context.parameters.get("queue"))
                let id = try controller.jobID(context.parameters.get("id"))
                if let kind = PushAgain(rawValue: way) {
                    return try await controller.pushAgain(id, in: queue, kind, pageRequest)
                }
                return controller.redirect(to: try await controller.steer(id, in: queue, way, pageRequest))
            }
        }
        routes.post("push") { controller, request, _ in
            await controller.answer(request, needing: .acting) { pageRequest in
                try await controller.pushFromForm(pageRequest)
            }
        }
        routes.post("schedules/save") { controller, request, _ in
            await controller.answer(request, needing: .acting) { pageRequest in
                try await controller.saveSchedule(pageRequest)
            }
        }
        routes.post("schedules/:way") { controller, request, context in
            await controller.act(request) { pageRequest in
                try await controller.steerSchedule(context.parameters.get("way") ?? "", pageRequest)
            }
        }
        addRuleActions(to: routes)
        addWorkflowActions(to: routes)
        routes.post("jobs/act") { controller, request, _ in
            await controller.answer(request, needing: .acting) { pageRequest in
                try await controller.actOnMany(pageRequest)
            }
        }
        routes.post("runs/:run/stop") { controller, request, context in
            await controller.act(request) { pageRequest in
                try controller.stopRun(context.parameters.get("run"), pageRequest)
            }
        }
    }

    func note(
        _ pageRequest: PageRequest,
        _ action: String,
        _ target: String,
        _ outcome: String,
        about jobs: [JobPlace] = []
    ) {
        dashboard.actions.note(pageRequest.access.user, action, target, outcome, about: jobs)
    }

    func place(_ path: String, _ notice: String) -> String { "\(path)?notice=\(FormFields.encode(notice))" }

    private func steer(_ queue: String, _ way: String, _ pageRequest: PageRequest) async throws -> String {
        switch way {
        case "pause", "resume":
            try await broker.configure(queue, QueueSettings(isPaused: way == "pause"))
            note(pageRequest, way, "queue \(queue)", "\(way)d")
            return place("/queues/\(queue)", "The queue is \(way)d.")
        case "clear":
            try dashboard.runs.checkRoom()
            guard try await broker.hasQueue(queue) else { throw BrokerError(missingQueue: queue) }
            let target = "waiting jobs of \(queue)"
            return try start(.cancel, target, pageRequest, .waiting(queue: queue), back: "/queues/\(queue)")
        default: throw PageProblem.notFound("a queue has no such action")
        }
    }

    private func steer(_ id: String, in queue: String, _ way: String, _ pageRequest: PageRequest) async throws -> String
    {
        let job = JobPlace(id: id, queue: queue)
        guard let action = BulkAction(rawValue: way) else { throw PageProblem.notFound("a job has no such action") }
        let tally = await action.run(JobSelection(of: [id], in: queue), on: broker)
        if let failure = tally.failure { throw failure }
        let outcome = tally.outcomes.keys.first ?? "nothing"
        note(pageRequest, way, job.words, outcome.replacing("_", with: " "), about: [job])
        let isGone = action == .delete && tally.done > 0
        return place(isGone ? "/jobs" : job.path, "\(id): \(action.sentence(for: outcome))")
    }
}
