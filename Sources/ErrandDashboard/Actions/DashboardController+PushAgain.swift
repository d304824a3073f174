import Errand
import ErrandOperator
import ErrandText
import Hummingbird

/// The ways to push a job again with changes; each is the end of a path.
enum PushAgain: String {
    /// The new job replaces a dead one.
    case edit
    /// The new job is pushed, and the old one is left as it is.
    case copy
}

extension DashboardController {
    /// Pushes the description of the form. If it is not accepted, the job's page is shown again with the reason and with
    /// what was typed.
    func pushAgain(
        _ id: String,
        in queue: String,
        _ kind: PushAgain,
        _ pageRequest: PageRequest
    ) async throws -> Response {
        let typed = pageRequest.form["description"] ?? ""
        do {
            let description = try Self.description(in: typed)
            switch kind {
            case .edit: return redirect(to: try await edit(id, in: queue, description, pageRequest))
            case .copy:
                let job = JobPlace(id: id, queue: queue)
                return redirect(to: try await push(description, "copy", job.words, about: [job], pageRequest))
            }
        } catch {
            let problem = PageProblem(explaining: error)
            guard problem.status == .badRequest else { throw error }
            noteRefusal(error, pageRequest.access)
            let page = try await job(id, in: queue, pageRequest, typed: FormJSON.text(typed), problem: problem.message)
            return render(page, pageRequest)
        }
    }

    /// Reads a description that was typed. Errors name the line and the column.
    static func description(in typed: String) throws(PageProblem) -> OperationDescription {
        let text = Array(TextEncoding.withoutMark(typed).utf8)
        do { return try OperationDescription(json: text) } catch {
            throw PageProblem.bad(error.explanation(in: text))
        }
    }

    /// Replaces a dead job.
    private func edit(
        _ id: String,
        in queue: String,
        _ description: OperationDescription,
        _ pageRequest: PageRequest
    ) async throws -> String {
        let job = JobPlace(id: id, queue: queue)
        func note(_ receipt: Receipt) {
            let new = JobPlace(id: receipt.id, queue: receipt.queue)
            let outcome = "\(receipt.outcome.rawValue) as \(new.id) in \(receipt.queue)"
            self.note(pageRequest, "edit", job.words, outcome, about: [job, new])
        }
        switch try await JobEdit(broker, id, on: queue).replace(with: description) {
        case .pushed(let receipt, let removed):
            note(receipt)
            return place("/queues/\(receipt.queue)/jobs/\(receipt.id)", Self.words(afterEdit: removed))
        case .refused(let receipt):
            self.note(pageRequest, "edit", job.words, receipt.outcome.rawValue, about: [job])
            throw PageProblem.bad(receipt.refusalOfEdit)
        case .unknown(let receipt):
            note(receipt)
            let words = "the reply was lost: the new job may have been accepted, and the dead one stays; "
            throw PageProblem(
                status: .serviceUnavailable,
                message: words + "do the same again within a minute, which makes no second job, or find \(receipt.id)"
            )
        case .pushedAndMaybeRemoved(let receipt, let error):
            note(receipt)
            let words = "This is the new job; whether the dead one was removed is not known: \(error.message)."
            return place("/queues/\(receipt.queue)/jobs/\(receipt.id)", words)
        case .holdsUp(let workflow):
            let words = "the workflow \(workflow) waits for this job, and a new one would have no place in it: "
            throw PageProblem.bad(words + "retry it, or delete it to skip what comes after it")
        case .notDead:
            throw PageProblem.bad("nothing was pushed, because the job is not dead any more: it was retried meanwhile")
        case .notFound: throw PageProblem.notFound("no such job: it was deleted, or its record has expired")
        }
    }

    private static func words(afterEdit removed: Bool) -> String {
        removed
            ? "This is the new job; the dead one was removed."
            : "The new job is ready; the dead one had already been removed."
    }
}
