import Backgroundable
import Synchronization

/// A worker's way out: requested once, urgent when the time for running jobs is over, overdue when all time is over.
final class Shutdown: Sendable {
    private enum Stage: Int, Comparable, Sendable {
        case none, requested, urgent, overdue
        static func < (a: Stage, b: Stage) -> Bool { a.rawValue < b.rawValue }
    }

    private struct State {
        var stage = Stage.none
        var listener: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let grace: Duration
    private let stopGrace: Duration
    /// Raised with every stage.
    let signal = Signal()

    init(grace: Duration, stopGrace: Duration) {
        self.grace = grace
        self.stopGrace = stopGrace
    }

    var isRequested: Bool { state.withLock { $0.stage >= .requested } }
    var isUrgent: Bool { state.withLock { $0.stage >= .urgent } }
    var isOverdue: Bool { state.withLock { $0.stage >= .overdue } }

    /// Calls `listener` with every later stage, and at once if there has been one. The newest listener counts.
    func onChange(_ listener: @escaping @Sendable () -> Void) {
        let isLate = state.withLock { state in
            state.listener = listener
            return state.stage > .none
        }
        if isLate { listener() }
    }

    /// Asks for the graceful way: running jobs may end within the grace, of which the last part is for stopping them.
    ///
    /// That part is never more than a quarter, so that a short grace is one, too; to stop may then take longer than it.
    func request() {
        guard reach(.requested) else { return }
        let forRunning = max(grace - stopGrace - .seconds(1), grace * 3 / 4)
        schedule(.urgent, after: forRunning)
        schedule(.overdue, after: max(grace, forRunning + stopGrace))
    }

    /// Asks for the quick way: running jobs are stopped at once.
    func hurry() {
        _ = reach(.requested)
        guard reach(.urgent) else { return }
        schedule(.overdue, after: stopGrace + .seconds(1))
    }

    private func schedule(_ stage: Stage, after duration: Duration) {
        _ = DeadlineTimer.shared.schedule(after: duration) { [weak self] in _ = self?.reach(stage) }
    }

    private func reach(_ stage: Stage) -> Bool {
        let listener = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.stage < stage else { return nil }
            state.stage = stage
            return state.listener ?? {}
        }
        listener?()
        signal.raise()
        return listener != nil
    }
}
