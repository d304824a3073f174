import Foundation
import Synchronization

/// The requests of tasks to the children's thread, and the pipe that wakes it.
final class ChildMailbox: Sendable {
    enum Message: Sendable {
        case start(ChildRequest)
        case stop(ChildRequest.ID)
        /// A long-lived child has input that its pipe did not take at once.
        case write(ChildRequest.ID)
        /// The end of its input.
        case finish(ChildRequest.ID)
        case endAll
        /// Resumes the continuation when no child is left, or at a deadline.
        case awaitEnd(CheckedContinuation<Bool, Never>, until: ContinuousClock.Instant)
    }

    private let messages = Mutex<[Message]>([])
    private let pipe: ChildPipe

    init() throws(Errno) {
        pipe = try ChildPipe()
        try pipe.readEnd.setNonblocking()
        try pipe.writeEnd.setNonblocking()
    }

    /// The descriptor that the thread polls.
    var number: Int32 { pipe.readEnd.number }

    func post(_ message: Message) {
        let isFirst = messages.withLock { messages in
            messages.append(message)
            return messages.count == 1
        }
        guard isFirst else { return }
        // A full pipe also wakes the thread.
        var byte: UInt8 = 0
        _ = write(pipe.writeEnd.number, &byte, 1)
    }

    /// Removes and returns all messages, in the order of posting.
    func take() -> [Message] {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            while read(pipe.readEnd.number, buffer.baseAddress, buffer.count) > 0 {}
        }
        return messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}

/// Whether a task that wants to run a command has been cancelled.
final class StopFlag: Sendable {
    private let flag = Atomic<Bool>(false)

    var isSet: Bool { flag.load(ordering: .acquiring) }

    func set() { flag.store(true, ordering: .releasing) }
}

/// A command that a task wants to run.
struct ChildRequest: Sendable {
    typealias ID = UInt64

    let id: ID
    let command: ChildCommand
    /// Set before the message to stop is posted, because that message may precede the request itself.
    let isStopped: StopFlag
    /// Called on the children's thread when there is a process, with its standard input.
    var onStart: @Sendable (pid_t, ChildInput) -> Void = { _, _ in }
    /// Called on the children's thread with the result.
    let onEnd: @Sendable (ChildResult) -> Void
}
