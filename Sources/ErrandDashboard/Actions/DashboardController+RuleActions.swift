import Errand
import ErrandOperator
import Hummingbird

/// Actions on the rules of a queue.
extension DashboardController {
    /// Adds the routes that change rules.
    static func addRuleActions<Context: RequestContext>(to routes: DashboardRoutes<Context>) {
        routes.post("queues/:queue/rules/save") { controller, request, context in
            await controller.answer(request, needing: .acting) { pageRequest in
                let queue = try controller.queueName(context.parameters.get("queue"))
                return try await controller.saveRule(of: queue, pageRequest)
            }
        }
        routes.post("queues/:queue/rules/delete") { controller, request, context in
            await controller.act(request) { pageRequest in
                let queue = try controller.queueName(context.parameters.get("queue"))
                return try await controller.deleteRule(of: queue, pageRequest)
            }
        }
    }

    /// Sets the rule of the form. If it is not accepted, the page is shown again with the reason.
    func saveRule(of queue: String, _ pageRequest: PageRequest) async throws -> Response {
        do {
            return redirect(to: try await save(try RuleForm(pageRequest.form), of: queue, pageRequest))
        } catch let problem as PageProblem where problem.status == .badRequest {
            noteRefusal(problem, pageRequest.access)
            let page = try await groupsPage(of: queue, pageRequest, typed: pageRequest.form, problem: problem)
            return render(page, pageRequest)
        }
    }

    private func save(_ form: RuleForm, of queue: String, _ pageRequest: PageRequest) async throws -> String {
        guard try await broker.hasQueue(queue) else { throw BrokerError(missingQueue: queue) }
        do throws(BrokerError) {
            try await broker.setFlow(queue, matching: form.pattern, form.rule)
        } catch {
            // The form is valid, but the pattern may be too similar to that of another rule.
            guard error.code == .refused else { throw error }
            throw PageProblem.bad(error.message)
        }
        note(pageRequest, "set rule", Self.target(form.pattern, queue), form.rule.words)
        return place("/queues/\(queue)/groups", "\(Self.target(form.pattern, queue)): \(form.rule.words).")
    }

    /// Deletes a rule, and returns the path of the page to show.
    func deleteRule(of queue: String, _ pageRequest: PageRequest) async throws -> String {
        let pattern = try RuleForm.pattern(pageRequest.form)
        guard try await broker.deleteFlow(queue, matching: pattern) else {
            throw PageProblem.notFound("there is no such rule any more")
        }
        note(pageRequest, "delete rule", Self.target(pattern, queue), "deleted")
        return place("/queues/\(queue)/groups", "\(Self.target(pattern, queue)): the rule is deleted.")
    }

    /// What a rule is for, in the log and in notices.
    private static func target(_ pattern: String, _ queue: String) -> String {
        pattern.isEmpty ? "queue \(queue)" : "groups \(pattern) of \(queue)"
    }
}
