import Backgroundable
import Foundation
import Synchronization

/// Signals that no longer end the process by themselves.
///
/// Their handler only writes into a pipe, and a thread of its own acts on them: neither a blocked task pool nor output
/// that nobody reads holds them up. Programs that are started do not inherit a handler, unlike an ignored signal.
package enum CaughtSignals {
    private static let actions = Mutex<[Int32: @Sendable (Int32) -> Void]>([:])

    /// Catches signals from now on; of several actions for a signal the last one counts.
    ///
    /// - Parameters:
    ///   - numbers: the signals.
    ///   - act: what each causes, on the thread of all caught signals.
    package static func take(_ numbers: [Int32], _ act: @escaping @Sendable (Int32) -> Void) {
        actions.withLock { actions in
            if SignalPipe.writingEnd.load(ordering: .acquiring) < 0 { listen() }
            for number in numbers {
                actions[number] = act
                signal(number, signalArrived)
            }
        }
    }

    /// Whether the process was started with a signal ignored: by `nohup`, or a shell that runs it in the background. To be
    /// asked before the signal is taken.
    package static func isIgnored(_ number: Int32) -> Bool {
        let before = signal(number, SIG_IGN)
        signal(number, before)
        return unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    private static func listen() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // A handler must not wait. A full pipe holds more signals than anybody sends.
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

/// What the handler uses: reading it takes no lock and allocates nothing.
private enum SignalPipe {
    static let writingEnd = Atomic<Int32>(-1)
}

/// The handler: calls nothing but what POSIX allows in one.
private func signalArrived(_ number: Int32) {
    let error = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(SignalPipe.writingEnd.load(ordering: .acquiring), &byte, 1)
    errno = error
}
