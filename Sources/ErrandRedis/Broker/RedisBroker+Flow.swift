public import Errand

extension RedisBroker {
    /// Sets the rule for the groups of a pattern.
    public func setFlow(_ queue: String, matching pattern: String, _ rule: FlowRule) async throws(BrokerError) {
        try rule.check(for: try FlowMatching(pattern))
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
        call.add(group ?? "*")
        call.add(min(max(most, 0), GroupStatus.mostShown))
        guard let parts = try await run(call).elements, parts.count.isMultiple(of: 7) else {
            throw unexpected("the groups of a queue")
        }
        return stride(from: 0, to: parts.count, by: 7).map { index in
            let numbers = parts[index + 1...index + 5].map { Int(clamping: $0.number ?? 0) }
            return GroupStatus(
                group: parts[index].text ?? "",
                waiting: numbers[0],
                held: numbers[1],
                limit: numbers[2] > 0 ? numbers[2] : nil,
                restingUntil: numbers[3] > 0 ? Int64(numbers[3]) : nil,
                isAtRate: numbers[4] == 1,
                blocker: parts[index + 6].text.flatMap { $0.isEmpty ? nil : $0 }
            )
        }
    }
}

extension FlowRule {
    /// The form that scripts read: words such as `at_once=4`, and `rate=100/1000` for 100 starts in 1,000 ms.
    fileprivate var stored: String {
        let words = [
            atOnce.map { "at_once=\($0)" }, rate.map { "rate=\($0.starts)/\($0.per.wholeMilliseconds)" },
            rate.map { "burst=\($0.burst)" }, weight.map { "weight=\($0)" }, order.map { _ in "ordered=1" },
            order == .skipDead ? "skip_dead=1" : nil, isFairByTime ? "by_time=1" : nil,
            maxWaiting.map { "max_waiting=\($0)" },
        ]
        return words.compactMap(\.self).joined(separator: " ")
    }

    /// Reads the stored form. Words that it does not know are left out.
    fileprivate init(stored: String) {
        var numbers: [Substring: [Int]] = [:]
        for word in stored.split(separator: " ") {
            let parts = word.split(separator: "=")
            if parts.count == 2 { numbers[parts[0]] = parts[1].split(separator: "/").compactMap { Int($0) } }
        }
        self.init(atOnce: numbers["at_once"]?.first, weight: numbers["weight"]?.first)
        if let rate = numbers["rate"], rate.count == 2 {
            self.rate = FlowRate(rate[0], per: .milliseconds(rate[1]), burst: numbers["burst"]?.first ?? 1)
        }
        isFairByTime = numbers["by_time"] == [1]
        maxWaiting = numbers["max_waiting"]?.first
        if numbers["ordered"] == [1] { order = numbers["skip_dead"] == [1] ? .skipDead : .holdDead }
    }
}
