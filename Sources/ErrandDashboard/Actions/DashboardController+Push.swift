import Errand
import ErrandOperator
import HTTPTypes
import Hummingbird

extension DashboardController {
    /// Makes the page with the form for a new job.
    ///
    /// - Parameters:
    ///   - typed: The fields as they were typed; the query before that.
    ///   - problem: Why they were not accepted.
    func pushPage(_ typed: FormFields, _ pageRequest: PageRequest, problem: PageProblem? = nil) async throws -> Page {
        guard pageRequest.mayAct else { throw PageProblem.mayOnlyRead }
        let queues = try await dashboard.queues.names()
        let suggestions = PushSuggestions(try await Overview(of: queues, on: broker).workers)
        return Page(
            heading: "Push a job",
            template: "push",
            content: PushForm.values(typed).merging([
                "queueSuggestions": JobCounts.suggestions(queues), "operationSuggestions": suggestions.values,
            ]) { $1 },
            status: problem?.status ?? .ok,
            problem: problem?.message
        )
    }

    /// Pushes the job of the form. If it is not accepted, the form is shown again with the reason.
    func pushFromForm(_ pageRequest: PageRequest) async throws -> Response {
        do {
            let description = try PushForm.description(pageRequest.form)
            let target = "operation \(description.operation) to \(description.queue)"
            return redirect(to: try await push(description, "push", target, pageRequest))
        } catch {
            let problem = PageProblem(explaining: error)
            guard problem.status == .badRequest else { throw error }
            noteRefusal(error, pageRequest.access)
            return render(try await pushPage(pageRequest.form, pageRequest, problem: problem), pageRequest)
        }
    }

    /// Pushes a new job, and returns the path of its page.
    ///
    /// - Parameters:
    ///   - action: The action for the log.
    ///   - target: What is pushed, for the log.
    ///   - jobs: The jobs that `target` names.
    func push(
        _ description: OperationDescription,
        _ action: String,
        _ target: String,
        about jobs: [JobPlace] = [],
        _ pageRequest: PageRequest
    ) async throws -> String {
        let job = try description.withoutID().makeEnvelope()
        let warning = try await warning(about: description.operation, in: job.queue)
        guard let receipt = try await broker.push([job], to: job.queue).first else {
            throw PageProblem(status: .serviceUnavailable, message: "the broker returned no receipt for the job")
        }
        let new = JobPlace(id: receipt.id, queue: receipt.queue)
        note(
            pageRequest,
            action,
            target,
            "\(receipt.outcome.rawValue) as \(new.id) in \(receipt.queue)",
            about: jobs + [new]
        )
        return place(new.path, try Self.notice(of: receipt) + warning)
    }

    /// Returns a sentence if no worker of the queue has the operation; empty if one has, or if the queue cannot be
    /// read.
    private func warning(about operation: String, in queue: String) async throws -> String {
        let overview = try await Overview(of: [queue], on: broker)
        let isKnown = overview.workers.contains { !$0.isLost && $0.session.operations.contains(operation) }
        guard !isKnown, overview.unreadable.isEmpty else { return "" }
        return " No worker of the queue \(queue) has the operation \(operation), so the job waits for one."
    }

    private static func notice(of receipt: Receipt) throws -> String {
        switch receipt.outcome {
        case .accepted: return "This is the new job."
        case .replaced: return "This is the new job; it has replaced a waiting one with its name."
        case .deferred: return "This is the new job; it waits for the end of the running one with its name."
        case .exists: return "The broker already has this job."
        case .dropped: throw PageProblem.bad("the new job was not accepted: job \(receipt.id) has its name")
        case .unknown:
            throw PageProblem(
                status: .serviceUnavailable,
                message: "the reply was lost: the new job may have been accepted; find \(receipt.id)"
            )
        }
    }
}
