import Dispatch
import Synchronization

/// Lets one thread wait until other threads have made a number of steps.
final class Countdown: Sendable {
    private let left: Atomic<Int>
    private let isOver = DispatchSemaphore(value: 0)

    init(_ steps: Int) {
        left = Atomic(steps)
    }

    func step() {
        if left.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 { isOver.signal() }
    }

    func wait() {
        isOver.wait()
    }
}
