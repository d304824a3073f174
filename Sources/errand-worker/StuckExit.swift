import ArgumentParser
import Backgroundable
import ErrandCommandLine
import Foundation
import Synchronization

/// The way out of a worker whose handlers do not come back: the graceful one may never end.
enum StuckExit {
    private static let isArmed = Atomic(false)

    /// Ends the process after so long, whatever is still running, from a thread that nothing here can block.
    static func arm(after grace: Duration) {
        guard !isArmed.exchange(true, ordering: .relaxed) else { return }
        DedicatedThread.start("stuck-exit") {
            Thread.sleep(forTimeInterval: grace / .seconds(1))
            StandardError.write("error: stuck; ending without waiting any longer")
            exit(ExitStatus.stuck.rawValue)
        }
    }
}
