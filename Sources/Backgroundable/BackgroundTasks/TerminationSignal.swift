import Foundation
import Synchronization

/// SIGTERM, caught for as long as it is wanted; at most one of these in a process.
///
/// Caught by a handler, not ignored: child processes inherit that a signal is ignored, but never a handler. The
/// handler only writes into a pipe; a thread of our own reads it, so nothing waits for a dispatch or pool thread.
final class TerminationSignal: Sendable {
    private struct State {
        var isCaught = false
        var hasThread = false
    }

    private let state = Locked(State())
    private let onArrival: @Sendable () -> Void

    /// - Parameter onArrival: Called for the first signal, on a thread that waits for nothing else; it may block.
    init(onArrival: @escaping @Sendable () -> Void) {
        self.onArrival = onArrival
    }

    /// Catches the signal or lets go of it, as `isWanted` says. It is asked under the lock, so that of several callers
    /// the last one's wish holds.
    func settle(_ isWanted: () -> Bool) {
        state.withLock { state in
            let isWanted = isWanted()
            if isWanted, !state.isCaught {
                state.isCaught = listen(&state.hasThread) && catchSignal()
            } else if !isWanted, state.isCaught {
                releaseSignal()
                state.isCaught = false
            }
        }
    }

    // MARK: SignalDisposition

    /// False if the signal is not at its default: whoever handles or ignores it keeps it.
    private func catchSignal() -> Bool {
        guard SignalDisposition.current?.isDefault == true else { return false }
        SignalState.hasArrived.store(false, ordering: .relaxed)
        SignalState.owner.store(getpid(), ordering: .relaxed)
        return SignalDisposition(handler: signalArrived).install()
    }

    /// Restores the default, unless somebody else has taken the signal over in the meantime.
    private func releaseSignal() {
        if SignalDisposition.current == SignalDisposition(handler: signalArrived) {
            SignalDisposition(handler: SIG_DFL).install()
        }
    }

    // MARK: Listening

    /// Opens the pipe and starts its thread, once. False if there is no pipe to be had.
    private func listen(_ hasThread: inout Bool) -> Bool {
        guard !hasThread else { return true }
        guard let ends = SignalState.openPipe() else { return false }
        SignalState.writingEnd.store(ends.writing, ordering: .releasing)
        let thread = Thread { [self] in serve(ends.reading) }
        thread.name = "termination"
        thread.qualityOfService = .userInteractive
        thread.start()
        hasThread = true
        return true
    }

    private func serve(_ readingEnd: Int32) {
        while true {
            var byte: UInt8 = 0
            if read(readingEnd, &byte, 1) == 1 {
                onArrival()
            } else if errno != EINTR {
                return
            }
        }
    }
}

/// What the signal's handler uses. Atomics that were touched before the handler was installed: reading them takes no
/// lock and allocates nothing.
private enum SignalState {
    static let writingEnd = Atomic<Int32>(-1)
    /// The process that catches the signal. A forked child runs the same handler until it executes something.
    static let owner = Atomic<pid_t>(0)
    static let hasArrived = Atomic<Bool>(false)

    /// A pipe that no child inherits and that never makes the handler wait.
    static func openPipe() -> (reading: Int32, writing: Int32)? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        return (ends[0], ends[1])
    }
}

/// The handler: calls nothing but what POSIX allows in one.
private func signalArrived(_ number: Int32) {
    let error = errno
    if getpid() != SignalState.owner.load(ordering: .relaxed) {
        // Not our process: it dies of the signal when the handler has returned.
        signal(number, SIG_DFL)
        raise(number)
    } else if SignalState.hasArrived.exchange(true, ordering: .relaxed) {
        _exit(ProcessExit.timeUp.rawValue)
    } else {
        var byte: UInt8 = 1
        _ = write(SignalState.writingEnd.load(ordering: .acquiring), &byte, 1)
    }
    errno = error
}
