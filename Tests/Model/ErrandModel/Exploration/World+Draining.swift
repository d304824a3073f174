extension World {
    /// Everything has ended, and nothing is left of it.
    var isDrained: Bool {
        unsent.isEmpty && unanswered.isEmpty && requests.isEmpty && replies.isEmpty
            && queue.jobs.values.allSatisfy(\.isDead) && queue.lines.isEmpty && queue.holders.isEmpty
            && queue.sessions.values.allSatisfy(\.claims.isEmpty)
            && workers.allSatisfy { $0.held.isEmpty && $0.reports.isEmpty }
    }

    /// One round without faults in which everybody does what is theirs: what is under way arrives, workers beat, end what
    /// they hold, report and claim, and look after the queue; then time passes.
    mutating func playFairRound() -> String? {
        faults = Faults()
        if workers.allSatisfy({ !$0.isUp }) { workers[0] = Worker() }
        while !unsent.isEmpty { if let broken = perform(.push(0)) { return broken } }
        while !unanswered.isEmpty { if let broken = perform(.pushAgain(0)) { return broken } }
        if let broken = arrive() { return broken }
        for index in workers.indices where workers[index].isUp {
            if let broken = playFairly(index) { return broken }
        }
        for look in [nil] + queue.sessions.keys.sorted().map({ Optional($0) }) {
            if let broken = perform(.recover(look)) { return broken }
        }
        return perform(.promote) ?? perform(.tick)
    }

    private mutating func arrive() -> String? {
        while !requests.isEmpty || !replies.isEmpty {
            if let broken = requests.isEmpty ? perform(.deliver(0)) : perform(.execute(0)) { return broken }
        }
        // Whose answer was lost sends again.
        for index in workers.indices where !workers[index].isPaused {
            guard let call = workers[index].awaited else { continue }
            requests.append(Request(worker: index, call: call))
        }
        return requests.isEmpty ? nil : arrive()
    }

    private mutating func playFairly(_ index: Int) -> String? {
        workers[index].isPaused = false
        if workers[index].session != nil, let broken = perform(.beat(index)) { return broken }
        if workers[index].session == nil, let broken = perform(.register(index)) { return broken }
        while let claim = workers[index].held.first {
            if let broken = perform(.end(index, workers[index].stops.contains(claim.id) ? .cancelled : .finished)) {
                return broken
            }
        }
        return workers[index].awaited == nil ? perform(.call(index)) ?? arrive() : arrive()
    }
}
