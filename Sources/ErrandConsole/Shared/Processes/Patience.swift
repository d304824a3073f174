import Foundation

/// Waiting by polling, for cleanup in tasks that are cancelled already.
enum Patience {
    /// Blocks until `isDone` returns `true` or the time is over; returns whether it was done.
    @discardableResult
    static func wait(atMost seconds: Double, until isDone: () -> Bool) -> Bool {
        let deadline = ContinuousClock.now + .seconds(seconds)
        while !isDone() {
            if ContinuousClock.now > deadline { return false }
            Thread.sleep(forTimeInterval: 0.005)
        }
        return true
    }
}
