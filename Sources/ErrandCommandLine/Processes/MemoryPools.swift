import CErrandMemory
import Foundation

/// Limits the memory of a long-lived process with many threads.
package enum MemoryPools {
    /// Makes threads share as many pools as there are processors.
    ///
    /// glibc gives each new thread its own pool, up to eight a processor, and each pool keeps its maximum size; a
    /// worker that runs for months would grow with every thread that it ever had. Must be called before other threads
    /// start. A value of `MALLOC_ARENA_MAX` takes precedence.
    package static func share() {
        guard ProcessInfo.processInfo.environment["MALLOC_ARENA_MAX"] == nil else { return }
        // Systems without this setting need no limit.
        _ = errand_limit_arenas(Int32(clamping: max(2, ProcessInfo.processInfo.activeProcessorCount)))
    }
}
