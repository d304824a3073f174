import Errand
import ErrandOperator

/// The form for a rule of a queue. The library checks its values.
struct RuleForm {
    private static let keys = ["pattern", "at_once", "rate", "burst", "weight", "max_waiting"]
    private static let orders = [
        ("", "no"), (FlowOrder.holdDead.rawValue, "yes, a dead job holds the group"),
        (FlowOrder.skipDead.rawValue, "yes, a dead job is skipped"),
    ]
    private static let charges = [("cost", "by the cost of jobs"), ("time", "by run time")]

    let pattern: String
    let rule: FlowRule

    /// - Throws: `PageProblem` for the first field that is not valid.
    init(_ fields: FormFields) throws(PageProblem) {
        pattern = try Self.pattern(fields)
        rule = FlowRule(
            atOnce: try fields.number("at_once"),
            rate: try Self.rate(fields),
            weight: try fields.number("weight"),
            order: fields["order"].flatMap(FlowOrder.init(rawValue:)),
            isFairByTime: fields["fair_by"] == "time",
            maxWaiting: try fields.number("max_waiting")
        )
        guard rule != FlowRule() else {
            throw PageProblem.bad("fill in what the rule is: at once, rate, weight, most waiting jobs or order")
        }
        do throws(BrokerError) { try rule.check(for: try FlowMatching(pattern)) } catch {
            throw PageProblem.bad(error.message)
        }
    }

    /// Returns the pattern of a rule; it is empty for the whole queue, so the field must be there.
    static func pattern(_ fields: FormFields) throws(PageProblem) -> String {
        guard let pattern = fields.all("pattern").first else { throw PageProblem.bad("which rule?") }
        do throws(BrokerError) { return try FlowMatching(pattern).pattern } catch {
            throw PageProblem.bad(error.message)
        }
    }

    private static func rate(_ fields: FormFields) throws(PageProblem) -> FlowRate? {
        let burst = try fields.number("burst")
        guard let text = fields["rate"] else {
            if burst != nil { throw PageProblem.bad("burst: fill in the rate as well") }
            return nil
        }
        guard var rate = FlowRate(text: text) else {
            throw PageProblem.bad("rate: write a number and a time, such as 100/1s")
        }
        rate.burst = burst ?? 1
        return rate
    }

    private static func options(_ all: [(value: String, title: String)], _ chosen: String) -> [[String: Any]] {
        all.map { ["value": $0.value, "title": $0.title, "isChosen": $0.value == chosen] }
    }

    /// Returns what was typed, for the template.
    static func values(_ typed: FormFields) -> [String: Any] {
        var values: [String: Any] = [:]
        for key in keys { values["field_\(key)"] = typed[key] ?? "" }
        values["orders"] = options(orders, typed["order"] ?? "")
        values["charges"] = options(charges, typed["fair_by"] ?? "cost")
        return values
    }
}
