import Errand
import ErrandOperator
import ErrandText
import HTTPTypes

extension DashboardController {
    /// Makes the page of a queue's groups and rules.
    ///
    /// - Parameters:
    ///   - typed: The fields of a rule that was not accepted.
    ///   - problem: Why it was not accepted.
    func groupsPage(
        of queue: String,
        _ pageRequest: PageRequest,
        typed: FormFields = FormFields(),
        problem: PageProblem? = nil
    ) async throws -> Page {
        try await checkExists(queue)
        let wanted = pageRequest.query["group"]
        let rules = try await broker.flow(of: queue)
        let groups = try await groups(of: queue, wanted, rules)
        let views = GroupViews(moments: MomentView())
        let content: [String: Any] = [
            "queue": queue, "wanted": wanted ?? "", "isOne": wanted != nil, "rows": groups.map(views.row),
            "isCut": wanted == nil && groups.count >= GroupStatus.listed, "listed": GroupStatus.listed.grouped,
            "rules": rules.map(views.rule), "hasRules": !rules.isEmpty,
            // The address of a form that was not accepted has no page to refresh from.
            "isLive": problem == nil,
        ]
        return Page(
            heading: "Groups of \(queue)",
            template: "groups",
            content: content.merging(RuleForm.values(typed)) { $1 },
            status: problem?.status ?? .ok,
            problem: problem?.message
        )
    }

    /// Reads the groups with the most waiting jobs, or one group and its first part; before them the whole queue if it
    /// has a rule.
    private func groups(
        of queue: String,
        _ wanted: String?,
        _ rules: [FlowPattern]
    ) async throws -> [GroupStatus] {
        var groups: [GroupStatus] = []
        if rules.contains(where: \.pattern.isEmpty) { groups += try await broker.groups(of: queue, named: "", most: 1) }
        guard let wanted else {
            return try await groups + broker.groups(of: queue, named: nil, most: GroupStatus.listed)
        }
        guard let name = GroupName(wanted) else {
            throw PageProblem.notFound("\"\(wanted.printable.shortened(to: 140))\" is not a group: \(GroupName.rule)")
        }
        for part in name.limited { groups += try await broker.groups(of: queue, named: part, most: 1) }
        return groups
    }
}
