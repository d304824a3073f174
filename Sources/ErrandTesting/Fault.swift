public import Errand

/// A fault that occurs once, at the next call that it fits.
public enum Fault: Sendable {
    /// The next push fails with this error, and no job is accepted.
    case pushFails(BrokerError)
    /// The next push is accepted, but its reply is lost: the receipts are `unknown`.
    case pushAnswerLost
    /// The next report of an ended run is accepted, but its reply is lost: the worker sends it again.
    case reportAnswerLost
    /// The next worker that claims a job dies with it: the job does not run there, the lease ends, and another worker
    /// claims it.
    ///
    /// The worker under test continues like a restarted process. Move the clock by more than the worker's lease (30 s
    /// by default), and the job is ready again.
    case workerDiesAfterClaim
}

/// The faults that wait for a call.
struct Faults: Sendable {
    private var waiting: [Fault] = []

    mutating func add(_ fault: Fault) { waiting.append(fault) }

    /// Removes and returns the first fault that fits a call.
    mutating func take<Value: Sendable>(_ fits: (Fault) -> Value?) -> Value? {
        for (index, fault) in waiting.enumerated() {
            guard let value = fits(fault) else { continue }
            waiting.remove(at: index)
            return value
        }
        return nil
    }
}
