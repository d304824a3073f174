import Foundation

extension AsyncOperationState.Facts {
    /// What an operation is doing, for people.
    var phrase: String {
        let what: String
        switch ending {
        case .finished: what = "finished"
        case .cancelled: what = "cancelled"
        case .timedOut: what = "timed out"
        case nil: return contains(.opened) ? "running" : "waiting"
        }
        guard contains(.opened) else { return "\(what) before it started" }
        guard !isOverrun else { return "\(what), its closure still runs" }
        return ending == .timedOut ? "\(what), finish() was not called in time" : what
    }
}

extension AsyncOperation {
    /// What the operation is doing, for people.
    var phrase: String {
        guard let error = errors.first, ending != .timedOut else { return state.facts.phrase }
        return "\(state.facts.phrase): \(error)"
    }

    /// How long the operation may run, for people.
    var timeoutPhrase: String {
        guard MonotonicTime.after(timeout) != nil else { return "no timeout" }
        return "timeout \(timeout.phrase) s"
    }
}
