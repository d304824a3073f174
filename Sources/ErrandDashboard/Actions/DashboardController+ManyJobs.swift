import Errand
import ErrandOperator
import HTTPTypes
import Hummingbird

/// Actions on many jobs at once.
extension DashboardController {
    /// The largest number of jobs that a confirmation lists.
    private static let few = 1000

    /// Acts on the selected jobs or on all that match. Asks for a confirmation if the action cannot be undone or the
    /// operator has not seen all jobs.
    func actOnMany(_ pageRequest: PageRequest) async throws -> Response {
        guard let action = pageRequest.form["action"].flatMap(BulkAction.init) else {
            throw PageProblem.bad("the form has no action")
        }
        let wanted = try JobsRequest(pageRequest.form)
        do {
            if pageRequest.form["scope"] == "matching" { return try await actOnMatching(action, wanted, pageRequest) }
            return try actOnSelected(action, wanted, pageRequest)
        } catch let error as NoSuchJobs {
            // Nothing was done, and the list is where the user corrects it.
            return redirect(to: wanted.place(notice: error.notice))
        }
    }

    private func actOnSelected(
        _ action: BulkAction,
        _ wanted: JobsRequest,
        _ pageRequest: PageRequest
    ) throws -> Response {
        let selection = try selection(of: pageRequest.form)
        let jobs = selection.count.counted("selected job")
        if action == .retry || pageRequest.form["confirmed"] == "yes" {
            return try begin(action, jobs, wanted, pageRequest) { JobQuestion.Found(selection: selection) }
        }
        let chosen = pageRequest.form.pairs.filter { $0.key == "job" }
        let fields = FormFields(wanted.fields.pairs + chosen + [("scope", "selected"), ("action", action.rawValue)])
        return ask(action, about: jobs, fields, wanted, pageRequest)
    }

    private func selection(of form: FormFields) throws -> JobSelection {
        var selection = JobSelection()
        for text in form.all("job") {
            let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw PageProblem.bad("that is no job") }
            selection.add([try jobID(parts[1])], in: try queueName(parts[0]))
        }
        if selection.count == 0 { throw NoSuchJobs(notice: "Nothing was done: no job is selected.") }
        return selection
    }

    /// Rejects unknown fields. A misspelled filter would otherwise be ignored, and all jobs would match.
    private func checkKeys(_ form: FormFields) throws {
        let known = JobsRequest.keys + ["action", "scope", "from", "asked", "counted", "confirmed", "job"]
        guard let unknown = form.pairs.map(\.key).first(where: { !known.contains($0) }) else { return }
        throw PageProblem.bad(
            "there is no field \(unknown.prefix(64)); the filters are \(JobsRequest.keys.joined(separator: ", "))"
        )
    }

    private func actOnMatching(
        _ action: BulkAction,
        _ wanted: JobsRequest,
        _ pageRequest: PageRequest
    ) async throws -> Response {
        try checkKeys(pageRequest.form)
        let states = wanted.state.map { [$0] } ?? action.usualStates
        guard states.allSatisfy(action.states.contains) else {
            throw NoSuchJobs(notice: "Nothing was done: \(states[0].rawValue) jobs cannot be \(action.past).")
        }
        let search = try await wanted.search(on: dashboard, states: states)
        let order: [(key: String, value: String)] = [("scope", "matching"), ("action", action.rawValue)]
        if pageRequest.form["confirmed"] == "yes" {
            let question = JobQuestion(search: search, asked: wanted.asked, counted: try count(in: pageRequest.form))
            let again = FormFields(wanted.fields.pairs + order)
            let target = "all jobs \(wanted.words(states))"
            return try begin(action, target, wanted, pageRequest, again: again) { try await question.select() }
        }
        // Take the time first: a job pushed while the search counts is then counted, but not acted on.
        var fields = wanted.fieldsOfNow(states).pairs + order
        // One search serves both kinds of confirmation, because it may already take a while.
        let outcome = try await search.run(JobSearch.Limits(found: wanted.filter.isEmpty ? Self.few : 20_000))
        if outcome.next == nil, outcome.jobs.count <= Self.few {
            return try ask(action, aboutFew: outcome.jobs, states, wanted, pageRequest)
        }
        let (words, number) = try await count(search, outcome, wanted)
        if let number { fields.append(("counted", "\(number)")) }
        let jobs = "\(words) \(wanted.question(states))"
        return ask(action, about: jobs, FormFields(fields), wanted, pageRequest)
    }

    /// Makes a confirmation for exactly these jobs, whatever is pushed before the operator confirms.
    private func ask(
        _ action: BulkAction,
        aboutFew jobs: [JobSummary],
        _ states: [JobState],
        _ wanted: JobsRequest,
        _ pageRequest: PageRequest
    ) throws -> Response {
        if jobs.isEmpty { throw NoSuchJobs(notice: "Nothing was done: no job matches.") }
        let names = jobs.map { (key: "job", value: "\($0.queue):\($0.record.id)") }
        let fields = wanted.fields.pairs + names + [("scope", "selected"), ("action", action.rawValue)]
        let count = jobs.count.counted("job")
        let words = "\(count) \(wanted.question(states))"
        return ask(action, about: words, FormFields(fields), wanted, pageRequest)
    }

    /// Returns the number of jobs that the confirmation stated.
    private func count(in form: FormFields) throws -> Int? {
        try form["counted"].map { text in
            guard let count = Int(text), count >= 0 else { throw PageProblem.bad("\"counted\" must be a whole number") }
            return count
        }
    }

    /// Returns the number of matching jobs: in words, and exactly if it is known.
    private func count(
        _ search: JobSearch,
        _ outcome: JobSearch.Outcome,
        _ wanted: JobsRequest
    ) async throws -> (words: String, number: Int?) {
        let found = outcome.jobs.count
        if outcome.next == nil { return (found.counted("job"), found) }
        let end = SearchCursor(queue: "", state: .dead, position: 0)
        let total = try await search.extent(upTo: end).total
        if wanted.filter.isEmpty { return (total.map { $0.counted("job") } ?? "all jobs that are kept", total) }
        let all = total.map { " of \($0.grouped)" } ?? ""
        return ("all jobs that match, \(found.grouped) of the first \(outcome.looked.grouped)\(all),", nil)
    }

    /// Makes a confirmation page; confirming it sends the fields again.
    private func ask(
        _ action: BulkAction,
        about jobs: String,
        _ fields: FormFields,
        _ wanted: JobsRequest,
        _ pageRequest: PageRequest
    ) -> Response {
        let which = fields["scope"] == "matching" ? "all jobs that match" : "selected jobs"
        let page = Page(
            heading: "\(action.title) \(which)",
            template: "confirm",
            content: [
                "question": "\(action.title) \(jobs)?", "title": action.title, "back": base + wanted.place,
                "isDangerous": action != .retry,
                "hidden": fields.pairs.map { ["key": $0.key, "value": $0.value] },
            ]
        )
        return render(page, pageRequest)
    }

    /// Starts the action and redirects to its page.
    private func begin(
        _ action: BulkAction,
        _ target: String,
        _ wanted: JobsRequest,
        _ pageRequest: PageRequest,
        again: FormFields? = nil,
        _ select: @escaping @Sendable () async throws -> JobQuestion.Found
    ) throws -> Response {
        let place = try start(action, target, pageRequest, .found(select), back: wanted.place, again: again)
        return redirect(to: place)
    }
}

/// There are no jobs for the action; the list of jobs is shown again with a message.
private struct NoSuchJobs: Error {
    let notice: String
}
