public import Errand

/// Something that goes wrong once, at the next call that it fits.
public enum Fault: Sendable {
    /// The next push is refused with this error; nothing is taken.
    case pushFails(BrokerError)
    /// The next push is taken, but its answer is lost: the receipts say `unknown`.
    case pushAnswerLost
    /// The next report of an ended run is taken, but its answer is lost: the worker sends it again.
    case reportAnswerLost
    /// The next worker that is handed a job dies with it: it never runs there, its lease ends, and another one takes it.
    ///
    /// The worker under test goes on as a process that was started anew. Move the clock by more than the lease, 30 s unless
    /// the worker says otherwise, and the job is back in line.
    case workerDiesAfterClaim
}

/// The faults that wait for their call.
struct Faults: Sendable {
    private var waiting: [Fault] = []

    mutating func add(_ fault: Fault) { waiting.append(fault) }

    /// Takes the first fault that fits a call.
    mutating func take<Value: Sendable>(_ fits: (Fault) -> Value?) -> Value? {
        for (index, fault) in waiting.enumerated() {
            guard let value = fits(fault) else { continue }
            waiting.remove(at: index)
            return value
        }
        return nil
    }
}
