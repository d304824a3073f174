import Foundation

extension AsyncOperationState.Facts {
    /// What the operation is doing, for log texts.
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
        guard ending == .timedOut else { return what }
        return contains(.overran)
            ? "\(what) while its closure ran"
            : "\(what): its closure returned, and finish() was not called in time"
    }
}

extension AsyncOperation {
    /// What the operation is doing and its first error, for log texts.
    var phrase: String {
        guard let error = errors.first, ending != .timedOut else { return state.facts.phrase }
        return "\(state.facts.phrase): \(error)"
    }

    /// The timeout, for log texts.
    var timeoutPhrase: String {
        guard MonotonicTime.after(timeout) != nil else { return "no timeout" }
        return "timeout \(timeout.phrase) s"
    }
}
