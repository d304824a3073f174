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
            let limit = context.parameters.get("way") == "edit" ? Self.editLimit : Self.formLimit
            return await controller.act(request, upTo: limit) { pageRequest in
                let queue = try controller.queueName(context.parameters.get("queue"))
                let id = try controller.jobID(context.parameters.get("id"))
                return try await controller.steer(id, in: queue, context.parameters.get("way") ?? "", pageRequest)
            }
        }
        routes.post("schedules/:way") { controller, request, context in
            await controller.act(request) { pageRequest in
                try await controller.steerSchedule(context.parameters.get("way") ?? "", pageRequest)
            }
        }
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

    func note(_ pageRequest: PageRequest, _ action: String, _ target: String, _ outcome: String) {
        dashboard.actions.note(pageRequest.access.user, action, target, outcome)
    }

    private func place(_ path: String, _ notice: String) -> String { "\(path)?notice=\(FormFields.encode(notice))" }

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
        let here = "/queues/\(queue)/jobs/\(id)"
        let target = "job \(id) of \(queue)"
        if way == "edit" { return try await edit(id, in: queue, pageRequest) }
        guard let action = BulkAction(rawValue: way) else { throw PageProblem.notFound("a job has no such action") }
        let tally = await action.run(JobSelection(of: [id], in: queue), on: broker)
        if let failure = tally.failure { throw failure }
        let outcome = tally.outcomes.keys.first?.replacing("_", with: " ") ?? "nothing"
        note(pageRequest, way, target, outcome)
        let isGone = action == .delete && tally.done > 0
        return place(isGone ? "/jobs" : here, "\(id): \(outcome).")
    }

    private func edit(_ id: String, in queue: String, _ pageRequest: PageRequest) async throws -> String {
        let description = try OperationDescription(
            json: TextEncoding.withoutMark(pageRequest.form["description"] ?? "")
        )
        let target = "job \(id) of \(queue)"
        switch try await JobEdit(broker, id, on: queue).replace(with: description) {
        case .pushed(let receipt, let removed):
            note(pageRequest, "edit", target, "\(receipt.outcome.rawValue) as \(receipt.id) in \(receipt.queue)")
            return place("/queues/\(receipt.queue)/jobs/\(receipt.id)", Self.words(afterEdit: removed))
        case .refused(let receipt):
            note(pageRequest, "edit", target, receipt.outcome.rawValue)
            throw PageProblem.bad("the new job was not accepted: \(receipt.outcome.rawValue); the dead one stays")
        case .unknown(let receipt):
            note(pageRequest, "edit", target, "\(receipt.outcome.rawValue) as \(receipt.id) in \(receipt.queue)")
            let words = "the reply was lost: the new job may have been accepted, and the dead one stays; "
            throw PageProblem(
                status: .serviceUnavailable,
                message: words + "do the same again within a minute, which makes no second job, or find \(receipt.id)"
            )
        case .pushedAndMaybeRemoved(let receipt, let error):
            note(pageRequest, "edit", target, "\(receipt.outcome.rawValue) as \(receipt.id) in \(receipt.queue)")
            let words = "This is the new job; whether the dead one was removed is not known: \(error.message)."
            return place("/queues/\(receipt.queue)/jobs/\(receipt.id)", words)
        case .notDead: throw PageProblem.bad("the job is not dead any more")
        case .notFound: throw PageProblem.notFound("no such job: it was deleted, or its record has expired")
        }
    }

    private static func words(afterEdit removed: Bool) -> String {
        removed
            ? "This is the new job; the dead one was removed."
            : "The new job is ready; the dead one had already been removed."
    }

    private func steerSchedule(_ way: String, _ pageRequest: PageRequest) async throws -> String {
        let queue = try queueName(pageRequest.form["queue"])
        guard let name = pageRequest.form["name"] else { throw PageProblem.bad("which schedule?") }
        let isDone: Bool
        switch way {
        case "pause": isDone = try await broker.pauseSchedule(name, on: queue)
        case "resume": isDone = try await broker.resumeSchedule(name, on: queue)
        case "run": isDone = try await broker.runSchedule(name, on: queue) != nil
        default: throw PageProblem.notFound("a schedule has no such action")
        }
        guard isDone else { throw PageProblem.notFound("there is no such schedule any more") }
        note(pageRequest, "\(way) schedule", "\(name) of \(queue)", "done")
        return place("/schedules", "\(name): done.")
    }
}
