import CErrandChild
import Foundation

/// A process that outlives the worker for a moment. It sleeps on a pipe, and when the worker has ended in any way, it
/// kills every process group that is still registered and exits.
///
/// The kernel's own mechanism (`PR_SET_PDEATHSIG`) ends only the command itself, not the processes that the command has
/// started. Only the children's thread uses the reaper.
final class ProcessReaper {
    private var pid: pid_t = -1
    private var pipe: Descriptor?

    /// The write end of the pipe; `poll` reports an error on it when the reaper is gone.
    var pipeNumber: Int32? { pipe?.number }

    /// Starts a reaper if there is none, and registers the live process groups.
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

    /// Discards a reaper that was killed, so that the next ``start(for:)`` starts another.
    func discard() {
        guard pipe != nil else { return }
        pipe = nil
        // Without its pipe it ends at once, if it has not ended already.
        errand_child_reap(pid)
        pid = -1
    }

    /// Removes a process group that has ended. Must precede reaping its leader: afterwards the number may be reused.
    func remove(_ group: pid_t) {
        guard let pipe else { return }
        // `poll` detects a reaper that is gone.
        _ = errand_reaper_record(pipe.number, -group)
    }
}
