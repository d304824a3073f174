import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ErrandRedis

/// Waiting threads.
@Suite struct WakePipeTests {
    @Test func aSignalEndsNoWait() async throws {
        signal(SIGURG) { _ in }
        let pipe = WakePipe()
        let thread = Mutex<pthread_t?>(nil)
        let woken = Mutex<WakePipe.Woken?>(nil)
        Thread.detachNewThread {
            // A thread of the pool, whose mask this one would have, blocks all signals.
            var signals = sigset_t()
            sigemptyset(&signals)
            pthread_sigmask(SIG_SETMASK, &signals, nil)
            thread.withLock { $0 = pthread_self() }
            let result = pipe.wait(milliseconds: 60_000)
            woken.withLock { $0 = result }
        }
        try await eventually("the thread runs") { thread.withLock { $0 != nil } }
        for _ in 0..<50 {
            if let thread = thread.withLock({ $0 }) { pthread_kill(thread, SIGURG) }
            try await Task.sleep(for: .milliseconds(2))
        }
        #expect(woken.withLock { $0 } == nil)
        pipe.wake()
        try await eventually("the wake-up ends it") { woken.withLock { $0 } == .woken }
    }
}
