import CErrandChild

/// How many files and pipes this process may have open.
package enum OpenFiles {
    /// Of a command that runs: three pipes and a descriptor that tells of its end.
    private static let ofACommand = 4
    /// Of all else: the broker, the reaper, a command that is just being started.
    private static let besides = 100

    /// Makes room for commands, as far as the system permits; they themselves get the usual limit. Call it before the first one is run.
    ///
    /// - Parameter commands: how many are to run at once.
    /// - Returns: the limit, and what it should be at least.
    package static func makeRoom(for commands: Int) -> (limit: Int, wanted: Int) {
        let (files, overflow) = commands.multipliedReportingOverflow(by: ofACommand)
        let wanted = overflow ? Int.max / 2 : files + besides
        return (Int(clamping: errand_child_make_room(UInt(clamping: wanted))), wanted)
    }
}
