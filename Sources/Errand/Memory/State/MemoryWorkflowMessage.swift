/// A message about a job of a workflow, for another queue.
///
/// A transition changes one queue only; what it has to tell another one it leaves as a message, which the broker
/// delivers.
package struct MemoryWorkflowMessage: Sendable, Equatable {
    enum Content: Sendable, Equatable {
        /// The job is free; the number is that of the member, or `nil` for a callback.
        case arrival(MemoryPush, number: Int?)
        /// Something has happened to a member of this number.
        case news(MemberNews, number: Int)
        /// A dead job has stopped the workflow: the others are to be cancelled.
        case stop
        /// A job of a workflow that was stopped is to be cancelled.
        case cancel(String)
    }

    /// The queue that it is for.
    package let queue: String
    package let workflow: String
    let content: Content

    var isArrival: Bool { if case .arrival = content { true } else { false } }
}

/// What can happen to a job of a workflow that its home queue has to know.
enum MemberNews: Sendable, Equatable {
    case ended(MemoryEnding, result: [UInt8])
    case died
    /// It was dead, and is retried.
    case retried
    /// Another job has its place.
    case moved(to: String)
}
