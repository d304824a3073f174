/// A stored schedule.
struct MemorySchedule: Sendable, Equatable {
    var definition: [UInt8]
    /// The next tick; `nil` if the schedule is paused or never ticks again.
    var nextTick: Int64?
    var isPaused = false
    var lastTick: Int64?
    var pushed = 0
    var missed = 0
}
