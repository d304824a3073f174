public import Foundation

/// Why an operation of this library did not succeed, where the reason is the library's own.
public enum OperationError: Error {
    /// The operation's timeout, in seconds, passed before it was finished.
    case timedOut(after: TimeInterval)
    /// A condition with this name did not hold.
    case conditionFailed(String)
    /// A condition with this name did not decide within the operation's timeout, in seconds.
    case conditionTimedOut(String, after: TimeInterval)
    /// A condition with this name names an operation to run first that waits for the condition's own operation, or is it.
    case circularCondition(String)
    /// The operation of this attempt of a ``RetryOperation``, counted from 1, is in a queue or has been started: each
    /// attempt needs a new one.
    case usedAttempt(Int)
    /// Operations that this one depends on failed, timed out, or were cancelled: their names (or descriptions), and
    /// the errors at the root of it.
    case dependenciesFailed(names: [String], errors: [any Error])
    /// None of several alternative conditions held: their name, and the error of each. Without errors there were none.
    case noConditionHolds(String, errors: [any Error])
    /// A part of a group cannot wait for its exclusive categories: the operation that has them waits for one that the group has.
    case exclusiveDeadlock(categories: [String])
    /// An operation that is to produce a value finished without one.
    case noResult
    /// An operation that works on an input was started without one.
    case noInput
    /// An operation was added to a group that had finished.
    case groupFinished
}

extension OperationError: LocalizedError, CustomStringConvertible {
    /// The reason, for people.
    public var description: String {
        switch self {
        case .timedOut(let seconds): "timed out after \(seconds.phrase) s"
        case .conditionFailed(let name): "the condition \(name) does not hold"
        case .conditionTimedOut(let name, let seconds):
            "the condition \(name) did not decide within \(seconds.phrase) s"
        case .circularCondition(let name):
            "the condition \(name) never decides: the operation that it names to run first waits for this one"
        case .usedAttempt(let number):
            "attempt \(number) is an operation that is in a queue or was started before: make a new one for each attempt"
        case .dependenciesFailed(let names, let errors):
            "what it depends on did not succeed: \(names.joined(separator: ", "))"
                + (errors.isEmpty ? "" : " (\(errors.map { "\($0)" }.joined(separator: "; ")))")
        case .noConditionHolds(_, let errors) where errors.isEmpty:
            "an OrCondition without conditions never holds: give it at least one"
        case .noConditionHolds(let name, let errors):
            "none of the conditions \(name) holds (\(errors.map { "\($0)" }.joined(separator: "; ")))"
        case .exclusiveDeadlock(let categories):
            "waiting for its exclusive categories (\(categories.joined(separator: ", "))) would be a deadlock: another group "
                + "that has one of them waits for this one's group; add them to the group's own conditions"
        case .noResult: "it finished without a result: call finish(returning:) or finish(withResult:)"
        case .noInput: "it has no input: set it, or inject a result before the operation is added to a queue"
        case .groupFinished: "its group had finished before it was added"
        }
    }

    /// The reason, for people.
    public var errorDescription: String? { description }
}

extension TimeInterval {
    /// The number without a needless fraction.
    var phrase: String {
        self == rounded() && magnitude < 1e15 ? String(Int64(self)) : String(self)
    }
}
