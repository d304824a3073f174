/// A schedule as it is stored.
struct MemorySchedule: Sendable {
    var definition: [UInt8]
    /// `nil` while it is paused, and when it never ticks again.
    var nextTick: Int64?
    var isPaused = false
    var lastTick: Int64?
    var pushed = 0
    var missed = 0
}
