/// A child that lives on. All calls return at once, on any thread.
struct LivingChild: Sendable {
    let id: ChildRequest.ID
    let mailbox: ChildMailbox

    /// Writes to its standard input.
    func write(_ bytes: [UInt8]) { mailbox.post(.write(id, bytes)) }

    /// Closes its standard input, at which it should end. It is stopped if it has not after a second.
    func finish() { mailbox.post(.finish(id)) }

    /// Stops its process group with SIGTERM, and after ``ChildCommand/stopGrace`` with SIGKILL.
    func stop() { mailbox.post(.stop(id)) }
}
