public import Foundation

/// An error of this library that ends an operation.
public enum OperationError: Error {
    /// The operation did not finish within its timeout, in seconds.
    case timedOut(after: TimeInterval)
    /// The condition with this name does not hold.
    case conditionFailed(String)
    /// The condition with this name did not decide within the operation's timeout, in seconds.
    case conditionTimedOut(String, after: TimeInterval)
    /// The condition with this name requires an operation that waits for the condition's own operation, or is that
    /// operation.
    case circularCondition(String)
    /// The operation of this attempt of a ``RetryOperation``, counted from 1, is already in a queue or was started.
    /// Each attempt needs a new operation.
    case usedAttempt(Int)
    /// Operations that this operation depends on failed, timed out or were cancelled. Has their names (or descriptions)
    /// and the errors that caused it.
    case dependenciesFailed(names: [String], errors: [any Error])
    /// None of several alternative conditions holds. Has their name and the error of each; without errors there were
    /// none.
    case noConditionHolds(String, errors: [any Error])
    /// A part of a group cannot wait for its exclusive categories: their holder waits for a category that the group
    /// has.
    case exclusiveDeadlock(categories: [String])
    /// An operation that produces a value finished without one.
    case noResult
    /// An operation that needs an input was started without one.
    case noInput
    /// An operation was added to a group that had already finished.
    case groupFinished
}

extension OperationError: LocalizedError, CustomStringConvertible {
    /// A description of the error for people.
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
            "a dependency did not succeed: \(names.joined(separator: ", "))"
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
        case .groupFinished: "its group had ended before it could start"
        }
    }

    /// A description of the error for people.
    public var errorDescription: String? { description }
}

extension TimeInterval {
    /// The number without an unnecessary fraction.
    var phrase: String {
        self == rounded() && magnitude < 1e15 ? String(Int64(self)) : String(self)
    }
}
