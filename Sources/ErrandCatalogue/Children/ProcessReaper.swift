import CErrandChild
import Foundation

/// The process that outlives the worker for a moment: it sleeps on a pipe, and when the worker is gone, however it
/// ended, it kills every process group that is still registered and exits.
///
/// The kernel's own guard (`PR_SET_PDEATHSIG`) ends only the command itself; what the command started would go on.
/// Belongs to the children's thread.
final class ProcessReaper {
    private var pid: pid_t = -1
    private var pipe: Descriptor?

    /// The pipe's end to write to; it reports an error to `poll` when the reaper is gone.
    var pipeNumber: Int32? { pipe?.number }

    /// Starts a reaper if there is none, and registers the process groups that live.
    func start(for groups: some Sequence<pid_t>) throws(Errno) {
        guard pipe == nil else { return }
        var writeEnd: Int32 = -1
        var code: Int32 = 0
        pid = errand_reaper_start(&writeEnd, &code)
        guard pid > 0 else { throw Errno(code: code) }
        let pipe = Descriptor(writeEnd)
        self.pipe = pipe
        for group in groups { errand_reaper_record(pipe.number, group) }
    }

    /// Forgets a reaper that somebody has killed, so that the next ``start(for:)`` starts another.
    func discard() {
        guard pipe != nil else { return }
        pipe = nil
        // Without its pipe it ends at once, if it has not ended already.
        errand_child_reap(pid)
        pid = -1
    }

    /// Says that a process group has ended. Comes before its leader is reaped: afterwards the number can be another's.
    func remove(_ group: pid_t) {
        guard let pipe else { return }
        // A reaper that is gone is noticed by `poll`.
        _ = errand_reaper_record(pipe.number, -group)
    }
}
