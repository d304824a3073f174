/// How a job of a workflow must have ended for a job that comes after it.
public enum WorkflowCondition: String, Sendable, CaseIterable, Codable {
    /// It has finished.
    case success
    /// It has ended, in whatever way. Also one that was skipped has ended.
    case anyEnd = "any_end"
    /// It is dead, or was cancelled, deleted or expired.
    case failure
}

/// What happens to a workflow when one of its jobs is dead.
public enum DeadMemberPolicy: String, Sendable, CaseIterable, Codable {
    /// The workflow has failed. Jobs that come after the dead one by success wait until somebody retries or deletes it;
    /// for the other conditions it has ended.
    case hold
    /// The workflow has failed, and whatever has not ended is cancelled.
    case cancelRest = "cancel_rest"
    /// The dead job counts as finished.
    case ignore
}

/// The state of a workflow.
public enum WorkflowState: String, Sendable, CaseIterable {
    /// Some of its jobs have not ended.
    case running
    /// All of its jobs have ended, and none of them was cancelled, deleted or expired.
    case finished
    /// A job is dead, or all have ended and at least one of them was cancelled, deleted or expired.
    case failed
    /// It was cancelled.
    case cancelled
}

/// What the jobs of a workflow and the workflow itself may consist of.
package enum WorkflowLimits {
    /// The jobs of a workflow.
    package static let members = 100_000
    /// The jobs that come after one job.
    package static let dependants = 1000
    /// The largest number of jobs, and needs of jobs, of one call.
    package static let portion = 1000
    /// The number of jobs that a view reads in a call, so that none of them takes the server 10 ms.
    package static let page = 500
    /// The number of jobs and needs from which on a push sends them in several calls, so that none of them takes the server
    /// 10 ms.
    package static let sent = 150
    /// The bytes of a workflow's name.
    package static let nameBytes = 1024
    /// The characters of a job's key.
    package static let keyCharacters = 128
    /// The bytes of the results that are kept for later jobs of a workflow.
    package static let resultBytes = 67_108_864
    /// How long ended workflows are kept, and how many of a queue.
    package static let keeping: Duration = .seconds(86_400)
    package static let kept = 10_000
    /// How long a workflow may take from its first call to the one that seals it.
    package static let sealing: Duration = .seconds(600)

    /// Whether a text is the key of a job in its workflow: 1 to 128 characters of `A-Z a-z 0-9 _ . : -`.
    package static func isKey(_ text: String) -> Bool {
        (1...keyCharacters).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: ":"),
                    UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
