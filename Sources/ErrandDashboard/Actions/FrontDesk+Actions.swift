import Errand
import ErrandOperator
import Hummingbird

extension FrontDesk {
    /// What changes something.
    static func addActions<Context: RequestContext>(to routes: DeskRoutes<Context>) {
        routes.post("queues/:queue/:way") { desk, request, context in
            await desk.act(request) { visit in
                let queue = try desk.queueName(context.parameters.get("queue"))
                return try await desk.steer(queue, context.parameters.get("way") ?? "", visit)
            }
        }
        routes.post("queues/:queue/jobs/:id/:way") { desk, request, context in
            await desk.act(request) { visit in
                let queue = try desk.queueName(context.parameters.get("queue"))
                let id = try desk.jobID(context.parameters.get("id"))
                return try await desk.steer(id, in: queue, context.parameters.get("way") ?? "", visit)
            }
        }
        routes.post("schedules/:way") { desk, request, context in
            await desk.act(request) { visit in
                try await desk.steerSchedule(context.parameters.get("way") ?? "", visit)
            }
        }
        routes.post("jobs/act") { desk, request, _ in
            await desk.answer(request, needing: .acting) { visit in try await desk.actOnMany(visit) }
        }
    }

    private func note(_ visit: Visit, _ action: String, _ target: String, _ outcome: String) {
        dashboard.actions.note(visit.access.user, action, target, outcome)
    }

    private func place(_ path: String, _ notice: String) -> String { "\(path)?notice=\(FormFields.encode(notice))" }

    private func steer(_ queue: String, _ way: String, _ visit: Visit) async throws -> String {
        switch way {
        case "pause", "resume":
            try await broker.configure(queue, QueueSettings(isPaused: way == "pause"))
            note(visit, way, "queue \(queue)", "\(way)d")
            return place("/queues/\(queue)", "The queue is \(way)d.")
        case "clear":
            return start(.cancel, "/queues/\(queue)", "waiting jobs of \(queue)", visit, .waiting(queue: queue))
        default: throw PageProblem.notFound("a queue cannot be told that")
        }
    }

    private func steer(_ id: String, in queue: String, _ way: String, _ visit: Visit) async throws -> String {
        let here = "/queues/\(queue)/jobs/\(id)"
        let target = "job \(id) of \(queue)"
        if way == "edit" { return try await edit(id, in: queue, visit) }
        guard let action = BulkAction(rawValue: way) else { throw PageProblem.notFound("a job cannot be told that") }
        let tally = try await action.run(JobSelection(of: [id], in: queue), on: broker)
        let verdict = tally.verdicts.keys.first?.replacing("_", with: " ") ?? "nothing"
        note(visit, way, target, verdict)
        let isGone = action == .delete && tally.done > 0
        return place(isGone ? "/jobs" : here, "\(id): \(verdict).")
    }

    private func edit(_ id: String, in queue: String, _ visit: Visit) async throws -> String {
        let description = try OperationDescription(json: visit.form["description"] ?? "")
        let target = "job \(id) of \(queue)"
        switch try await JobEdit(broker, id, on: queue).replace(with: description) {
        case .pushed(let receipt, _):
            note(visit, "edit", target, "\(receipt.outcome.rawValue) as \(receipt.id) in \(receipt.queue)")
            return place("/queues/\(receipt.queue)/jobs/\(receipt.id)", "This is the new job; the dead one is gone.")
        case .refused(let receipt):
            note(visit, "edit", target, receipt.outcome.rawValue)
            throw PageProblem.bad("the new job was not taken: \(receipt.outcome.rawValue); the dead one stays")
        case .notDead: throw PageProblem.bad("the job is not dead any more")
        case .notFound: throw PageProblem.notFound("the broker knows nothing of this job any more")
        }
    }

    private func steerSchedule(_ way: String, _ visit: Visit) async throws -> String {
        let queue = try queueName(visit.form["queue"])
        guard let name = visit.form["name"] else { throw PageProblem.bad("which schedule?") }
        let isDone: Bool
        switch way {
        case "pause": isDone = try await broker.pauseSchedule(name, on: queue)
        case "resume": isDone = try await broker.resumeSchedule(name, on: queue)
        case "run": isDone = try await broker.runSchedule(name, on: queue) != nil
        default: throw PageProblem.notFound("a schedule cannot be told that")
        }
        guard isDone else { throw PageProblem.notFound("there is no such schedule any more") }
        note(visit, "\(way) schedule", "\(name) of \(queue)", "done")
        return place("/schedules", "\(name): done.")
    }

    private func start(
        _ action: BulkAction,
        _ back: String,
        _ target: String,
        _ visit: Visit,
        _ jobs: BulkRuns.Jobs
    ) -> String {
        let (actions, user) = (dashboard.actions, visit.access.user)
        // Said at once as well: it may take long, and this process may not live to its end.
        actions.note(user, action.rawValue, target, "begun")
        let run = dashboard.runs.start(action, with: jobs, on: broker, back: back) { outcome in
            actions.note(user, action.rawValue, target, outcome)
        }
        return "/runs/\(run)"
    }
}

extension FrontDesk {
    /// The selected jobs at once; all that match after a question.
    private func actOnMany(_ visit: Visit) async throws -> Response {
        guard let action = visit.form["action"].flatMap(BulkAction.init) else { throw PageProblem.bad("do what?") }
        let wanted = try JobsRequest(visit.form)
        let back = "/jobs" + (wanted.fields.pairs.isEmpty ? "" : "?\(wanted.fields.query)")
        if visit.form["scope"] == "matching" { return try await actOnMatching(action, wanted, back, visit) }
        var selection = JobSelection()
        for text in visit.form.all("job") {
            let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw PageProblem.bad("that is no job") }
            selection.add([try jobID(parts[1])], in: try queueName(parts[0]))
        }
        if selection.count == 0 { throw PageProblem.bad("no job is selected") }
        let chosen = selection
        let run = start(action, back, "\(chosen.count) selected jobs", visit, .found { chosen })
        return Response(status: .seeOther, headers: [.location: base + run])
    }

    private func actOnMatching(
        _ action: BulkAction,
        _ wanted: JobsRequest,
        _ back: String,
        _ visit: Visit
    ) async throws -> Response {
        let states = wanted.state.map { [$0] } ?? (action == .delete ? [.dead] : action.states)
        guard states.allSatisfy(action.states.contains) else {
            throw PageProblem.bad("\(states[0].rawValue) jobs cannot be told to \(action.rawValue)")
        }
        let search = try await wanted.search(on: broker, states: states)
        if visit.form["confirmed"] == "yes" {
            let target = "all jobs with \(wanted.fields.query)"
            let run = start(action, back, target, visit, .found { try await search.selectAll() })
            return Response(status: .seeOther, headers: [.location: base + run])
        }
        let question = "\(action.title) \(try await count(search, wanted)) in the states "
        let hidden = wanted.fieldsOfNow(states).pairs + [("scope", "matching"), ("action", action.rawValue)]
        let page = Page(
            heading: "\(action.title) all that match",
            template: "confirm",
            content: [
                "question": question + states.map(\.rawValue).joined(separator: ", ") + "?",
                "title": action.title, "back": base + back,
                "hidden": hidden.map { ["key": $0.0, "value": $0.1] },
            ]
        )
        return render(page, visit)
    }

    private func count(_ search: JobSearch, _ wanted: JobsRequest) async throws -> String {
        let end = SearchCursor(queue: "", state: .dead, position: 0)
        let total = try await search.extent(upTo: end).total
        if wanted.filter.isEmpty { return total.map { "\($0.grouped) jobs" } ?? "all jobs that are kept" }
        let outcome = try await search.run(JobSearch.Limits(found: 20_000))
        if outcome.next == nil { return "\(outcome.jobs.count.grouped) jobs" }
        return
            "all jobs that match, \(outcome.jobs.count.grouped) of the first \(outcome.looked.grouped)\(total.map { " of \($0.grouped)" } ?? ""),"
    }
}
