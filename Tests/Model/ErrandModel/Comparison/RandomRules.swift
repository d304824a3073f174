import Errand

/// Random rules of groups, for histories and simulations.
extension SeededNumbers {
    /// Makes a rule that suits a pattern.
    ///
    /// - Parameter windows: The times for which its rate may hold, three of them, in milliseconds.
    mutating func flowRule(for pattern: String, windows: [Time]) -> FlowRule {
        let isWholeQueue = pattern.isEmpty
        var rule = FlowRule()
        if chance(80) { rule.atOnce = 1 + below(2) }
        if chance(40) {
            rule.rate = FlowRate(1 + below(3), per: .milliseconds(windows[below(windows.count)]), burst: 1 + below(3))
        }
        if chance(30), !isWholeQueue {
            rule.order = FlowOrder.allCases[below(2)]
            rule.atOnce = nil
        }
        if chance(20), !isWholeQueue { rule.maxWaiting = 1 + below(3) }
        if chance(50), isWholeQueue {
            rule.isFairByTime = true
            (rule.atOnce, rule.rate) = (nil, nil)
        }
        if chance(40), !isWholeQueue { rule.weight = 2 + below(3) }
        return rule
    }
}
