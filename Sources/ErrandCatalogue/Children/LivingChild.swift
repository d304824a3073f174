import Synchronization

/// A long-lived child. All calls return at once, on any thread.
final class LivingChild: Sendable {
    private struct State {
        var input: ChildInput?
        /// What was written before there was a process.
        var early: [UInt8] = []
    }

    private let id: ChildRequest.ID
    private let mailbox: ChildMailbox
    private let state = Mutex(State())

    init(id: ChildRequest.ID, mailbox: ChildMailbox) {
        self.id = id
        self.mailbox = mailbox
    }

    /// Takes the input of its process.
    func started(_ input: ChildInput) {
        let isLeft = state.withLock { state in
            defer { state.early = [] }
            state.input = input
            return !state.early.isEmpty && input.add(state.early)
        }
        if isLeft { mailbox.post(.write(id)) }
    }

    /// Writes to its standard input: at once, so that the children's thread need not wake for it, as long as the pipe has
    /// room.
    func write(_ bytes: [UInt8]) {
        let input = state.withLock { state in
            if state.input == nil { state.early += bytes }
            return state.input
        }
        if let input, input.add(bytes) { mailbox.post(.write(id)) }
    }

    /// Closes its standard input, at which it should end. It is stopped if it has not after a second.
    func finish() { mailbox.post(.finish(id)) }

    /// Stops its process group with SIGTERM, and after ``ChildCommand/stopGrace`` with SIGKILL.
    func stop() { mailbox.post(.stop(id)) }
}
