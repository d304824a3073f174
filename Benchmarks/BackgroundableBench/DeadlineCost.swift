import Backgroundable
import Foundation

/// The lateness of very many deadlines of one timer, and the number of threads that they need.
struct DeadlineCost {
    /// The number of threads added while all deadlines are pending.
    let threads: Int
    /// Milliseconds between the time of each deadline and its call.
    let lateness: [Double]

    static func measure(count: Int, spread: Int) -> DeadlineCost {
        let before = threadCount()
        let timer = DeadlineTimer()
        let log = LatenessLog(count: count)
        let head = UInt64(500_000_000)
        for number in 0..<count {
            // Spread over the whole span, in no order of time.
            let place = UInt64((number * 7_919) % count) * UInt64(spread) * 1_000_000_000 / UInt64(count)
            let due = DispatchTime.now().uptimeNanoseconds + head + place
            _ = timer.schedule(after: .nanoseconds(Int64(head + place))) { log.note(due: due) }
        }
        let pending = threadCount()
        log.wait()
        return withExtendedLifetime(timer) {
            DeadlineCost(threads: pending - before, lateness: log.milliseconds)
        }
    }

    /// Returns the number of threads of this process, or 0 on systems without `/proc`.
    private static func threadCount() -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
    }
}

/// Records the lateness of each deadline, and waits for the last.
///
/// Unchecked because of the array: only the timer's thread writes it, and it is read after the countdown.
private final class LatenessLog: @unchecked Sendable {
    private(set) var milliseconds: [Double] = []
    private let countdown: Countdown

    init(count: Int) {
        countdown = Countdown(count)
        milliseconds.reserveCapacity(count)
    }

    func note(due: UInt64) {
        let now = DispatchTime.now().uptimeNanoseconds
        milliseconds.append((Double(now) - Double(due)) / 1_000_000)
        countdown.step()
    }

    func wait() {
        countdown.wait()
    }
}
