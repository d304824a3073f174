import Foundation
import Synchronization

/// Reports for how long no task has found a thread in the task pool: the proof that handlers block it.
///
/// It runs on its own thread, which handlers cannot block.
final class PoolWatch: Sendable {
    /// Shorter waits of a task are only due to a busy machine.
    private static let worthTelling = 500

    private let sent = Mutex<ContinuousClock.Instant?>(nil)

    /// Measures until the process ends.
    func start() {
        let thread = Thread { [self] in
            while true {
                look()
                Thread.sleep(forTimeInterval: 0.25)
            }
        }
        thread.name = "pool-watch"
        thread.start()
    }

    private func look() {
        guard let since = sent.withLock({ $0 }) else { return send() }
        let milliseconds = Int((ContinuousClock.now - since) / .milliseconds(1))
        guard milliseconds >= Self.worthTelling else { return }
        FileHandle.standardOutput.write(Data("pool \(milliseconds)\n".utf8))
    }

    private func send() {
        sent.withLock { $0 = ContinuousClock.now }
        Task.detached { [self] in sent.withLock { $0 = nil } }
    }
}
