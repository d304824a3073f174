import Foundation
import Synchronization

/// Catches SIGTERM while that is wanted. A process has at most one of these.
///
/// It uses a handler instead of ignoring the signal, because child processes inherit an ignored signal but never a
/// handler. The handler only writes to a pipe. A separate thread reads it, so nothing depends on a dispatch or pool
/// thread.
final class TerminationSignal: Sendable {
    private struct State {
        var isCaught = false
        var hasThread = false
    }

    private let state = Locked(State())
    private let onArrival: @Sendable () -> Void

    /// - Parameter onArrival: Called for the first signal, on a thread with no other work. It may block.
    init(onArrival: @escaping @Sendable () -> Void) {
        self.onArrival = onArrival
    }

    /// Installs or removes the handler according to `isWanted`. The closure is called under the lock, so the last of
    /// several concurrent callers determines the result.
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

    // MARK: Disposition

    /// Installs the handler. Returns false if the signal does not have its default disposition.
    private func catchSignal() -> Bool {
        guard SignalDisposition.current?.isDefault == true else { return false }
        SignalState.hasArrived.store(false, ordering: .relaxed)
        SignalState.owner.store(getpid(), ordering: .relaxed)
        return SignalDisposition(handler: signalArrived).install()
    }

    /// Restores the default, unless other code has changed the disposition meanwhile.
    private func releaseSignal() {
        if SignalDisposition.current == SignalDisposition(handler: signalArrived) {
            SignalDisposition(handler: SIG_DFL).install()
        }
    }

    // MARK: Pipe

    /// Opens the pipe and starts its thread, once. Returns false if no pipe can be opened.
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

/// The state that the signal handler uses. These atomics are initialized before the handler is installed, so reading
/// them takes no lock and allocates nothing.
private enum SignalState {
    static let writingEnd = Atomic<Int32>(-1)
    /// The process that catches the signal. A forked child has the same handler until it calls `exec`.
    static let owner = Atomic<pid_t>(0)
    static let hasArrived = Atomic<Bool>(false)

    /// Opens a pipe that child processes do not inherit and that never blocks the handler.
    static func openPipe() -> (reading: Int32, writing: Int32)? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        return (ends[0], ends[1])
    }
}

/// The signal handler. It calls only async-signal-safe functions.
private func signalArrived(_ number: Int32) {
    let error = errno
    if getpid() != SignalState.owner.load(ordering: .relaxed) {
        // This is a forked child, which the signal terminates when the handler has returned.
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
