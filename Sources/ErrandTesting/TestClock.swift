import Errand
public import Foundation
import Synchronization

/// A clock that stands still until a test moves it.
public final class TestClock: Sendable {
    private let milliseconds: Mutex<Int64>

    /// Makes a clock.
    ///
    /// - Parameter start: The initial time; by default the first second of 2026 UTC.
    public init(startingAt start: Date = Date(timeIntervalSince1970: 1_767_225_600)) {
        milliseconds = Mutex(Int64((start.timeIntervalSince1970 * 1000).rounded()))
    }

    /// The clock's time.
    public var now: Date { Date(timeIntervalSince1970: Double(nowMilliseconds) / 1000) }

    /// The clock's time, in milliseconds since 1970 UTC.
    public var nowMilliseconds: Int64 { milliseconds.withLock { $0 } }

    /// Moves the clock forward by whole milliseconds; a negative duration does not move it.
    func advance(by duration: Duration) {
        milliseconds.withLock { $0 += Int64(max(0, duration.wholeMilliseconds)) }
    }
}
