import Foundation

/// Waiting where nothing can be awaited: at the end, in tasks that are cancelled already.
enum Patience {
    /// Blocks until `isDone` or for `seconds`; answers whether it was done.
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
