import Backgroundable
import Synchronization

/// A worker's way out, in stages that only go forward.
final class Shutdown: Sendable {
    enum Stage: Int, Comparable, Sendable {
        case none
        /// Nothing more is claimed.
        case requested
        /// Running jobs are stopped.
        case urgent
        /// The queues are no longer waited for.
        case overdue
        /// Nor are the reports that they are sending; what is still held goes back with the session.
        case late
        /// Nor is that.
        case over

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

    var isRequested: Bool { has(reached: .requested) }
    var isUrgent: Bool { has(reached: .urgent) }
    var isOverdue: Bool { has(reached: .overdue) }

    func has(reached stage: Stage) -> Bool { state.withLock { $0.stage >= stage } }

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
    /// That part is never more than a quarter, so that a short grace is one, too. Whatever has not stopped by then is left
    /// behind: commands are killed, and handlers' jobs are released.
    func request() {
        guard reach(.requested) else { return }
        schedule(.urgent, after: max(grace - stopGrace - .seconds(1), grace * 3 / 4))
        leave(after: grace, lastWords: .seconds(2))
    }

    /// Asks for the quick way: running jobs are stopped at once.
    func hurry() {
        _ = reach(.requested)
        guard reach(.urgent) else { return }
        leave(after: stopGrace + .seconds(1), lastWords: .seconds(2))
    }

    /// Asks for the immediate way, of a process that is about to exit: running jobs are stopped at once, and after a
    /// second nothing is waited for.
    func stopNow() {
        _ = reach(.requested)
        _ = reach(.urgent)
        leave(after: .milliseconds(500), lastWords: .milliseconds(500))
    }

    private func leave(after duration: Duration, lastWords: Duration) {
        schedule(.overdue, after: duration)
        schedule(.late, after: duration + lastWords / 2)
        schedule(.over, after: duration + lastWords)
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
