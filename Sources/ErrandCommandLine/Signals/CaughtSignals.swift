import Backgroundable
import Foundation
import Synchronization

/// Signals that no longer end the process by default.
///
/// Their handler only writes to a pipe, and a separate thread performs the actions: neither a blocked task pool nor
/// output without a reader delays them. Children do not inherit a handler, unlike an ignored signal.
package enum CaughtSignals {
    private static let actions = Mutex<[Int32: @Sendable (Int32) -> Void]>([:])

    /// Starts to catch signals; of several actions for a signal the last one applies.
    ///
    /// - Parameters:
    ///   - numbers: The signals.
    ///   - act: The action for each, on the thread of all caught signals.
    package static func take(_ numbers: [Int32], _ act: @escaping @Sendable (Int32) -> Void) {
        actions.withLock { actions in
            if SignalPipe.writingEnd.load(ordering: .acquiring) < 0 { listen() }
            for number in numbers {
                actions[number] = act
                signal(number, signalArrived)
            }
        }
    }

    /// Returns whether the process was started with a signal ignored: by `nohup`, or by a shell that runs it in the
    /// background. Must be called before the signal is caught.
    package static func isIgnored(_ number: Int32) -> Bool {
        let before = signal(number, SIG_IGN)
        signal(number, before)
        return unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    private static func listen() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // A handler must not block. The pipe has room for more signals than ever arrive at once.
        _ = fcntl(ends[1], F_SETFL, O_NONBLOCK)
        SignalPipe.writingEnd.store(ends[1], ordering: .releasing)
        let readingEnd = ends[0]
        DedicatedThread.start("errand-signals") { serve(readingEnd) }
    }

    private static func serve(_ readingEnd: Int32) {
        var number: UInt8 = 0
        while true {
            let count = read(readingEnd, &number, 1)
            if count == 1 {
                actions.withLock { $0[Int32(number)] }?(Int32(number))
            } else if errno != EINTR {
                return
            }
        }
    }
}

/// The state of the handler: reading it takes no lock and allocates no memory.
private enum SignalPipe {
    static let writingEnd = Atomic<Int32>(-1)
}

/// The handler: it only calls functions that POSIX permits in one.
private func signalArrived(_ number: Int32) {
    let error = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(SignalPipe.writingEnd.load(ordering: .acquiring), &byte, 1)
    errno = error
}
