import Errand
import ErrandOperator
import Hummingbird

/// Actions on schedules.
extension DashboardController {
    /// Pauses, resumes or runs a schedule, and returns the path of the page to show.
    func steerSchedule(_ way: String, _ pageRequest: PageRequest) async throws -> String {
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

    /// Makes the page with the form for a new schedule, or for the one that the query names.
    func schedulePage(_ pageRequest: PageRequest) async throws -> Page {
        guard pageRequest.mayAct else { throw PageProblem.mayOnlyRead }
        guard let name = pageRequest.query["name"] else { return try await schedulePage(typed: pageRequest.query) }
        let queue = try queueName(pageRequest.query["queue"])
        guard let record = try await broker.schedule(name, on: queue), !record.isDeleted else {
            throw PageProblem.notFound("there is no such schedule any more")
        }
        guard let schedule = record.schedule else {
            throw PageProblem.notFound(record.problem?.description ?? "the schedule cannot be read")
        }
        return try await schedulePage(typed: ScheduleForm.fields(of: schedule))
    }

    private func schedulePage(typed: FormFields, problem: PageProblem? = nil) async throws -> Page {
        let queues = try await dashboard.queues.names()
        return Page(
            heading: typed["old"].map { "Schedule \($0)" } ?? "New schedule",
            template: "schedule",
            content: ScheduleForm.values(typed).merging(["queueSuggestions": JobCounts.suggestions(queues)]) { $1 },
            status: problem?.status ?? .ok,
            problem: problem?.message
        )
    }

    /// Stores the schedule of the form. If it is not valid, the form is shown again with the reason.
    func saveSchedule(_ pageRequest: PageRequest) async throws -> Response {
        do {
            let form = try ScheduleForm(pageRequest.form)
            return redirect(to: try await save(form, pageRequest))
        } catch {
            let problem = ScheduleForm.problem(explaining: error)
            guard problem.status == .badRequest else { throw error }
            noteRefusal(problem, pageRequest.access)
            return render(try await schedulePage(typed: pageRequest.form, problem: problem), pageRequest)
        }
    }

    private func save(_ form: ScheduleForm, _ pageRequest: PageRequest) async throws -> String {
        guard try await broker.hasQueue(form.queue) else {
            throw PageProblem.bad(
                "queue: there is no queue \(form.queue); create it with errand queue create \(form.queue)"
            )
        }
        let stored = try await broker.schedule(form.name, on: form.queue).flatMap { $0.isDeleted ? nil : $0 }
        if form.isNew, stored != nil {
            throw PageProblem.bad("name: queue \(form.queue) already has a schedule \(form.name)")
        }
        let edit = ScheduleEdit(form.name, on: form.queue, in: broker)
        let outcome = try await edit.put(revision: nil) { revision in
            try form.schedule(revision: revision, replacing: stored?.schedule)
        }
        note(pageRequest, "save schedule", "\(form.name) of \(form.queue)", "\(outcome)")
        return place("/schedules", "\(form.name): \(outcome).")
    }
}
