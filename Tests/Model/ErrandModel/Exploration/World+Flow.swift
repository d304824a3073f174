import Errand

/// What the rule of the group promises.
extension World {
    /// The ticks between two starts in the scopes with a rate.
    static let rateInterval: Time = 2

    /// G1 to G3: the jobs of the group never have more claims than its rule allows, start no faster than its rate, and
    /// start in the order of their pushes if it is ordered.
    mutating func brokenRule(_ before: MemoryQueue) -> String? {
        guard let rule = rules.scope.rule else { return nil }
        noteReleases()
        for start in broker.queue.starts(since: before) {
            let broken =
                broker.queue.brokenLimit(of: Self.group, rule) ?? brokenRate(start, rule)
                ?? brokenOrder(start.id, rule, before)
            if let broken { return broken }
        }
        return nil
    }

    /// A released claim does not count as a start.
    private mutating func noteReleases() {
        for event in effects.events where event.kind == .released && event.id == lastStart?.id { lastStart = nil }
    }

    private mutating func brokenRate(_ start: MemoryQueue.Start, _ rule: FlowRule) -> String? {
        guard let rate = rule.rate else { return nil }
        defer { lastStart = (start.id, start.token, now) }
        let earlier = lastStart.map { [$0.time] } ?? []
        return MemoryQueue.brokenRate(of: Self.group, rate, after: earlier, at: now)
    }

    /// All jobs are due when they are pushed, and their ids are in that order.
    private func brokenOrder(_ id: String, _ rule: FlowRule, _ before: MemoryQueue) -> String? {
        guard let order = rule.order else { return nil }
        return broker.queue.brokenOrder(of: id, order, since: before) { $0.id < id }
    }
}
