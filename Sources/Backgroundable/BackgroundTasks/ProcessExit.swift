import Foundation

/// The way in which a process exits, with its exit status.
enum ProcessExit: Int32 {
    /// All work was done.
    case done = 0
    /// Work was left. The status is the one that shells report for a process that SIGTERM terminated.
    case timeUp = 143

    /// The minimum time for exit handlers, in nanoseconds.
    private static let moment: UInt64 = 500_000_000

    /// Exits the process. Exit handlers may run until `end`, or for half a second if that is later. Then the process
    /// exits without them.
    ///
    /// They run on a separate thread, because they may block. If no thread can be created, the process exits
    /// nevertheless.
    func leaveProcess(end: UInt64) -> Never {
        Thread { exit(rawValue) }.start()
        let latest = max(end, MonotonicTime.now &+ ProcessExit.moment)
        let never = Alarm()
        while MonotonicTime.now < latest {
            never.sleep(until: latest)
        }
        _exit(rawValue)
    }
}
