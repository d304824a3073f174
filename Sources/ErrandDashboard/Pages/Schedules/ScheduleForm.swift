import Errand
import ErrandOperator
import ErrandText

/// The form for a schedule. The job is written as a description, so that a change keeps all that it does not touch.
struct ScheduleForm {
    private static let keys = ["old", "name", "queue", "cron", "zone", "every", "limit", "job"]

    /// The fields' labels by the keys of schedules.
    private static let names = ValueNames([
        "name": "Name", "cron": "Cron expression", "time_zone": "Time zone", "every": "Or every",
        "catch_up": "Missed ticks", "catch_up_limit": "At most", "overlap": "If the last job has not ended",
        "template": "The job",
    ])

    let name: String
    let queue: String
    /// Whether no schedule of this name may exist yet.
    let isNew: Bool
    private let fields: FormFields

    /// Parses the fields that name the schedule.
    init(_ fields: FormFields) throws {
        guard let name = fields["name"] else { throw PageProblem.bad("name: name the schedule") }
        queue = fields["queue"] ?? "default"
        guard QueueName.isValid(queue) else { throw PageProblem.notAQueue(queue) }
        (self.name, isNew, self.fields) = (name, fields["old"] == nil, fields)
    }

    /// Makes the schedule. The library checks its values.
    ///
    /// - Parameter stored: The schedule that it replaces. If the timing is the same in the form, it stays as it is.
    func schedule(revision: Int, replacing stored: Schedule?) throws -> Schedule {
        let template = try template()
        return try Schedule(
            name,
            try timing(stored),
            pushing: template,
            catchUp: try Schedule.CatchUp(word: fields["catch_up"] ?? "latest", limit: try fields.number("limit")),
            overlap: try overlap(),
            revision: revision
        )
    }

    private func timing(_ stored: Schedule?) throws -> ScheduleTiming {
        if let stored, Self.timingFields(of: stored.timing).allSatisfy({ fields[$0.key] ?? "" == $0.value }) {
            return stored.timing
        }
        switch (fields["cron"], fields["every"]) {
        case (_?, _?): throw PageProblem.bad("cron and every: fill in one of them")
        case (nil, nil): throw PageProblem.bad("cron or every: fill in one of them")
        case (let cron?, nil): return try .cron(cron, timeZone: fields["zone"] ?? "UTC")
        case (nil, let every?):
            if fields["zone"].map({ $0 != "UTC" }) ?? false {
                throw PageProblem.bad("zone: only for a cron expression; leave it empty")
            }
            do { return try .every(try DurationText.parse(every)) } catch let error as DurationTextError {
                throw PageProblem.bad("every: \(error)")
            }
        }
    }

    private func template() throws -> OperationDescription {
        let template = try DashboardController.description(in: fields["job"] ?? "").filling(queue: queue)
        guard template.queue == queue else {
            throw PageProblem.bad(
                "job: its queue is \(template.queue), but the schedule's is \(queue); leave \"queue\" out of the job"
            )
        }
        return template
    }

    private func overlap() throws -> Schedule.Overlap {
        try fields["overlap"].map { text in
            guard let overlap = Schedule.Overlap(rawValue: text) else {
                throw PageProblem.bad("overlap: there is no rule of that name")
            }
            return overlap
        } ?? .allow
    }

    /// Returns the problem of a form; errors of schedules are those of what was typed.
    static func problem(explaining error: any Error) -> PageProblem {
        (error as? ScheduleError).map { PageProblem.bad(names.explanation(of: $0)) } ?? PageProblem(explaining: error)
    }
}

/// The values of the form.
extension ScheduleForm {
    /// Returns the fields for a schedule that is to be changed.
    static func fields(of schedule: Schedule) -> FormFields {
        var pairs: [(key: String, value: String)] = [
            ("old", schedule.name), ("name", schedule.name), ("queue", schedule.queue),
            ("overlap", schedule.overlap.rawValue),
            ("job", FormJSON.editable(schedule.template.encoded())),
        ]
        switch schedule.catchUp {
        case .none: pairs.append(("catch_up", "none"))
        case .latest: pairs.append(("catch_up", "latest"))
        case .all(let limit): pairs += [("catch_up", "all"), ("limit", "\(limit)")]
        }
        return FormFields(pairs + timingFields(of: schedule.timing))
    }

    private static func timingFields(of timing: ScheduleTiming) -> [(key: String, value: String)] {
        if let interval = timing.interval { return [("every", DurationText.format(.milliseconds(interval)))] }
        return [("cron", timing.expression ?? ""), ("zone", timing.timeZone)]
    }

    /// Returns what was typed, for the template.
    static func values(_ typed: FormFields) -> [String: Any] {
        var values: [String: Any] = [:]
        for key in keys { values["field_\(key)"] = FormJSON.text(typed[key] ?? "") }
        if typed["job"] == nil { values["field_job"] = "{\n  \"operation\": \"\",\n  \"arguments\": {}\n}" }
        values["isOld"] = typed["old"] != nil
        values["overlaps"] = choices(Schedule.Overlap.allCases.map(\.rawValue), typed["overlap"] ?? "allow")
        values["catchUps"] = choices(["latest", "none", "all"], typed["catch_up"] ?? "latest")
        return values
    }

    private static func choices(_ words: [String], _ chosen: String) -> [[String: Any]] {
        words.map { ["value": $0, "isChosen": $0 == chosen] }
    }
}
