public import Errand

extension RedisBroker {
    /// Sets the rule for the groups of a pattern.
    public func setFlow(_ queue: String, matching pattern: String, _ rule: FlowRule) async throws(BrokerError) {
        _ = try FlowMatching(pattern)
        try rule.check()
        var call = ScriptCall(.flow, on: queue)
        call.add("set")
        call.add(pattern)
        call.add(rule.stored)
        guard try await run(call).number != nil else { throw unexpected("a rule") }
        await announce(queue)
    }

    /// Deletes the rule of a pattern, and returns whether there was one.
    @discardableResult
    public func deleteFlow(_ queue: String, matching pattern: String) async throws(BrokerError) -> Bool {
        _ = try FlowMatching(pattern)
        var call = ScriptCall(.flow, on: queue)
        call.add("delete")
        call.add(pattern)
        guard let number = try await run(call).number else { throw unexpected("a rule") }
        return number == 1
    }

    /// Returns the rules of a queue, sorted by pattern.
    public func flow(of queue: String) async throws(BrokerError) -> [FlowPattern] {
        var call = ScriptCall(.plainFlow, on: queue)
        call.add("list")
        guard let texts = try await run(call).elements?.compactMap(\.text), texts.count.isMultiple(of: 2) else {
            throw unexpected("the rules of groups")
        }
        return stride(from: 0, to: texts.count, by: 2).map { index in
            FlowPattern(pattern: texts[index], rule: FlowRule(stored: texts[index + 1]))
        }.sorted { $0.pattern < $1.pattern }
    }

    /// Returns the groups with the most jobs, or one of them.
    public func groups(
        of queue: String,
        named group: String?,
        most: Int
    ) async throws(BrokerError) -> [GroupStatus] {
        var call = ScriptCall(.plainFlow, on: queue)
        call.add("show")
        call.add(group ?? "")
        call.add(min(max(most, 0), GroupStatus.mostShown))
        guard let parts = try await run(call).elements, parts.count.isMultiple(of: 4) else {
            throw unexpected("the groups of a queue")
        }
        return stride(from: 0, to: parts.count, by: 4).map { index in
            let numbers = parts[index + 1...index + 3].map { Int(clamping: $0.number ?? 0) }
            return GroupStatus(
                group: parts[index].text ?? "",
                waiting: numbers[0],
                held: numbers[1],
                limit: numbers[2] > 0 ? numbers[2] : nil
            )
        }
    }
}

extension FlowRule {
    /// The form that scripts read: words such as `at_once=4`.
    fileprivate var stored: String {
        let words = [atOnce.map { "at_once=\($0)" }, weight.map { "weight=\($0)" }]
        return words.compactMap(\.self).joined(separator: " ")
    }

    /// Reads the stored form. Words that it does not know are left out.
    fileprivate init(stored: String) {
        self.init()
        for word in stored.split(separator: " ") {
            let parts = word.split(separator: "=")
            guard parts.count == 2, let number = Int(parts[1]) else { continue }
            switch parts[0] {
            case "at_once": atOnce = number
            case "weight": weight = number
            default: break
            }
        }
    }
}
