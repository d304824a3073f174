/// A command to run in a process group of its own.
package struct ChildCommand: Sendable {
    /// The argument vector; the first value is looked up on PATH unless it has a slash in it.
    package var arguments: [String]
    /// What the child reads from its standard input; then comes the end of the file.
    package var input: [UInt8] = []
    /// Variables on top of the worker's environment, whose broker URLs are left out.
    package var environment: [String: String] = [:]
    /// How many bytes from the beginning of standard output are kept; the rest is read and thrown away.
    package var outputLimit = 64 * 1024
    /// How many bytes from the end of standard error are kept.
    package var errorLimit = 4 * 1024
    /// How long the process group may take to end after SIGTERM before SIGKILL ends it; also how long output that
    /// something still holds open is waited for after the command itself has ended.
    package var stopGrace: Duration = .seconds(2)

    /// A command that reads nothing.
    package init(_ arguments: [String]) {
        self.arguments = arguments
    }
}

/// What became of a command.
package struct ChildResult: Sendable {
    /// How a command ended.
    package enum Ending: Sendable, Equatable {
        /// It exited with this status.
        case exited(Int32)
        /// This signal ended it.
        case signalled(Int32)
        /// It ended, but other code in this process collected its status.
        case unknown
        /// It did not start.
        case notStarted(ChildStartError)
    }

    /// How the command ended.
    package var ending: Ending
    /// Whether it was told to stop before it had ended; its whole process group is gone then.
    package var stopped = false
    /// The beginning of its standard output.
    package var output: [UInt8] = []
    /// The end of its standard error.
    package var errorTail: [UInt8] = []
}
