import CErrandChild

/// The limit of open files and pipes of this process.
package enum OpenFiles {
    /// For a running command: three pipes, and a descriptor that signals its end.
    private static let ofACommand = 4
    /// For everything else: the broker, the reaper, a command that is being started.
    private static let besides = 100

    /// Raises the limit for commands as far as the system permits; the commands themselves get the former limit. Call
    /// it before the first command runs.
    ///
    /// - Parameter commands: How many commands run at once.
    /// - Returns: The limit, and the required one.
    package static func makeRoom(for commands: Int) -> (limit: Int, wanted: Int) {
        let (files, overflow) = commands.multipliedReportingOverflow(by: ofACommand)
        let wanted = overflow ? Int.max / 2 : files + besides
        return (Int(clamping: errand_child_make_room(UInt(clamping: wanted))), wanted)
    }
}
