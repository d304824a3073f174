/// A command to run in its own process group.
package struct ChildCommand: Sendable {
    /// The argument vector; the first value is looked up on PATH unless it contains a slash.
    package var arguments: [String]
    /// The bytes on the child's standard input, followed by the end of the file.
    package var input: [UInt8] = []
    /// Variables in addition to the worker's environment, from which broker URLs are removed.
    package var environment: [String: String] = [:]
    /// How many bytes from the beginning of standard output are kept; the rest is read and discarded.
    package var outputLimit = 64 * 1024
    /// How many bytes from the end of standard error are kept.
    package var errorLimit = 4 * 1024
    /// How long the process group may take to end after SIGTERM before SIGKILL. It is also how long the worker waits
    /// for output after the command has ended, while another process still holds it open.
    package var stopGrace: Duration = .seconds(2)
    /// Gets all of standard output instead, on the children's thread, of a long-lived command: its standard input then
    /// stays open.
    package var onOutput: (@Sendable (UnsafeRawBufferPointer) -> Void)?

    /// Makes a command without input.
    package init(_ arguments: [String]) {
        self.arguments = arguments
    }
}

/// The result of a command.
package struct ChildResult: Sendable {
    /// How a command ended.
    package enum Ending: Sendable, Equatable {
        /// It exited with this status.
        case exited(Int32)
        /// This signal ended it.
        case signalled(Int32)
        /// The command ended, but other code in this process collected its status.
        case unknown
        /// It did not start.
        case notStarted(ChildStartError)
    }

    /// How the command ended.
    package var ending: Ending
    /// Whether it was stopped before it ended by itself; its whole process group has ended then.
    package var stopped = false
    /// The beginning of its standard output.
    package var output: [UInt8] = []
    /// The end of its standard error.
    package var errorTail: [UInt8] = []
}
