import Foundation
import Synchronization

/// What tasks ask of the children's thread, and the pipe that wakes it.
final class ChildMailbox: Sendable {
    enum Message: Sendable {
        case start(ChildRequest)
        case stop(ChildRequest.ID)
        case endAll
        /// Asks to be answered when no child is left, or a time is over.
        case awaitEnd(CheckedContinuation<Bool, Never>, until: ContinuousClock.Instant)
    }

    private let messages = Mutex<[Message]>([])
    private let pipe: ChildPipe

    init() throws(Errno) {
        pipe = try ChildPipe()
        try pipe.readEnd.setNonblocking()
        try pipe.writeEnd.setNonblocking()
    }

    /// What the thread waits for.
    var number: Int32 { pipe.readEnd.number }

    func post(_ message: Message) {
        let isFirst = messages.withLock { messages in
            messages.append(message)
            return messages.count == 1
        }
        guard isFirst else { return }
        // A full pipe wakes the thread just as well.
        var byte: UInt8 = 0
        _ = write(pipe.writeEnd.number, &byte, 1)
    }

    /// Takes everything out, in the order of posting.
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
    /// Set before the message that asks to stop is posted: that one may come before the request itself.
    let isStopped: StopFlag
    let continuation: CheckedContinuation<ChildResult, Never>
}
