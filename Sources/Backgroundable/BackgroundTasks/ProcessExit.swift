import Foundation

/// How a process leaves, by its exit status.
enum ProcessExit: Int32 {
    /// All work was done.
    case done = 0
    /// Work was left: what a shell reports of a process that SIGTERM ended.
    case timeUp = 143

    /// What exit handlers may take when there is no time left at all, in nanoseconds.
    private static let moment: UInt64 = 500_000_000

    /// Leaves the process. Exit handlers may run until `end`, or for a moment if that is later; then it leaves without
    /// them.
    ///
    /// They run on a thread of their own: they may block, and if no thread can be had any more the process leaves all
    /// the same.
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
