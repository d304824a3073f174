import Errand

/// Plays histories on the model and on the in-memory broker, and compares everything after every step.
package struct MemoryComparison {
    private let universe = Universe()
    private var envelopes = Envelopes()
    private var lengths: [Push: Int64] = [:]

    package init() {}

    /// What is wrong with a history, or `nil`.
    package mutating func fault(in history: History) throws -> Fault? {
        var model = QueueModel()
        var subject = MemorySubject(universe, envelopes)
        let judge = Judge()
        for (index, step) in history.steps.enumerated() {
            let expected = model.apply(step.command, at: step.time)
            let seen = try subject.observe(step.command, at: step.time)
            let words = try words(of: model)
            if let what = judge.verdict(expected.sorted, model, words: words, seen, universe) {
                return Fault(step: index, what: what)
            }
            if index % 10 == 9 || index == history.steps.count - 1 {
                let view = try model.view(universe, at: step.time, &envelopes)
                if let what = subject.view.difference(from: view) { return Fault(step: index, what: what) }
            }
            if let what = model.brokenInvariant { return Fault(step: index, what: "the model itself: \(what)") }
        }
        if subject.hasFindings { return Fault(step: history.steps.count - 1, what: "its audit is not clean") }
        return nil
    }

    private mutating func words(of model: QueueModel) throws -> [Int64] {
        for job in model.jobs.values where lengths[job.pushed] == nil {
            lengths[job.pushed] = Int64(try envelopes.envelope(job.pushed, universe).bytes.count + 13)
        }
        let lengths = lengths
        return model.words(universe) { lengths[$0] ?? -1 }
    }
}

/// Where a history went wrong, and how.
package struct Fault: Sendable {
    package var step: Int
    package var what: String
}

extension Answer {
    /// Stops in the order of their ids: theirs is the broker's choice.
    var sorted: Answer {
        guard case .beaten(let claims, let stops) = self else { return self }
        return .beaten(claims: claims, stops: stops.sorted { $0.id < $1.id })
    }
}
