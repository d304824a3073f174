import CErrandMemory
import Foundation

/// Keeps a long-lived process with many threads from growing.
package enum MemoryPools {
    /// Lets threads share as many pools as there are processors.
    ///
    /// glibc gives each new thread a pool of its own, up to eight a processor, and each keeps what was once needed in it; a
    /// worker that runs for months would grow with every thread it ever had. To be called before there are threads.
    /// Whoever sets `MALLOC_ARENA_MAX` has decided otherwise.
    package static func share() {
        guard ProcessInfo.processInfo.environment["MALLOC_ARENA_MAX"] == nil else { return }
        // Where there is nothing to set there is nothing to do.
        _ = errand_limit_arenas(Int32(clamping: max(2, ProcessInfo.processInfo.activeProcessorCount)))
    }
}
