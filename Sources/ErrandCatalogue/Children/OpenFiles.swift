import CErrandChild

/// How many files and pipes this process may have open.
package enum OpenFiles {
    /// Of a command that runs: three pipes and a descriptor that tells of its end.
    private static let ofACommand = 4
    /// Of all else: the broker, the warden, a command that is just being started.
    private static let besides = 100

    /// Makes room for commands, as far as the system permits. Call it before the first one is run.
    ///
    /// - Parameter commands: how many are to run at once.
    /// - Returns: how many have room.
    package static func makeRoom(for commands: Int) -> Int {
        let (wanted, overflow) = commands.multipliedReportingOverflow(by: ofACommand)
        let room = errand_child_make_room(UInt(clamping: overflow ? .max : wanted) + UInt(besides))
        return min(commands, max(0, (Int(clamping: room) - besides) / ofACommand))
    }
}
