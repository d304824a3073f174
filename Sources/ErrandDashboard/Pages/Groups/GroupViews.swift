import Errand
import ErrandOperator
import ErrandText

/// The values of groups and rules for the template.
struct GroupViews {
    let moments: MomentView

    /// Returns the values of a group, or of the whole queue, whose waiting jobs are not counted.
    func row(_ group: GroupStatus) -> [String: Any] {
        let isWhole = group.isWholeQueue
        // A group without waiting jobs has none to hold back.
        let isHeld = isWhole || group.waiting > 0
        return [
            "group": group.group, "place": FormFields.encode(group.group), "isWhole": isWhole,
            "waiting": isWhole ? "–" : group.waiting.grouped, "isIdle": group.waiting == 0,
            "held": group.held.grouped, "limit": group.limit?.grouped ?? "–",
            "reasons": isHeld ? [order(of: group), fullness(of: group), rest(of: group)].compactMap(\.self) : [],
        ]
    }

    /// Returns the values of a rule.
    func rule(_ entry: FlowPattern) -> [String: Any] {
        let rule = entry.rule
        return [
            "pattern": entry.pattern, "title": entry.pattern.isEmpty ? "whole queue" : entry.pattern,
            "atOnce": rule.atOnce?.grouped ?? "–", "rate": rule.rate?.text ?? "–",
            "burst": rule.rate?.burst.grouped ?? "–", "weight": rule.weight?.grouped ?? "–",
            "maxWaiting": rule.maxWaiting?.grouped ?? "–", "others": rule.otherWords ?? "–",
        ]
    }

    /// The job that an ordered group waits for.
    private func order(of group: GroupStatus) -> [String: Any]? {
        group.blocker.map { ["words": "ordered: waits for job \($0)", "times": [[String: Any]]()] }
    }

    private func fullness(of group: GroupStatus) -> [String: Any]? {
        guard group.isFull, group.blocker == nil, let limit = group.limit else { return nil }
        return ["words": "full: \(group.held.grouped) of \(limit.grouped)", "times": [[String: Any]]()]
    }

    /// What the group rests for. A rest for its rate is mostly shorter than a second, so its length is shown.
    private func rest(of group: GroupStatus) -> [String: Any]? {
        guard let end = group.restingUntil else { return nil }
        guard group.isAtRate else { return ["words": "rests until", "times": [moments.exact(end)]] }
        let rest = max(end.subtractingReportingOverflow(moments.now).partialValue, 1)
        return ["words": "at its rate: next start in \(TimeSpanText.rounded(rest))", "times": [[String: Any]]()]
    }
}
