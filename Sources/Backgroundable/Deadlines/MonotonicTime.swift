import Dispatch
import Foundation

/// Time that only goes forward, in nanoseconds since an arbitrary moment: setting the system's clock does not move it.
enum MonotonicTime {
    /// The present moment.
    static var now: UInt64 {
        DispatchTime.now().uptimeNanoseconds
    }

    /// The moment that lies `seconds` after now, or nil if there is no such moment: zero, negative, infinite and
    /// undefined spans, and those of more than a hundred years.
    static func after(_ seconds: TimeInterval) -> UInt64? {
        guard seconds > 0, seconds < 3_155_760_000 else { return nil }
        return now &+ UInt64(seconds * 1_000_000_000)
    }
}
